/**
 * The thread as it comes: all messages are mounted. The styles of its kit let the browser skip
 * painting what is off the screen.
 */
import { ThreadPrimitive } from '@assistant-ui/react'
import { Composer, MESSAGE_COMPONENTS, show } from '../assistant-ui-parts.tsx'
import './off-screen.css'

show(
  <ThreadPrimitive.Root className="thread">
    <ThreadPrimitive.Viewport className="viewport">
      <div className="messages">
        <ThreadPrimitive.Messages components={MESSAGE_COMPONENTS} />
      </div>
    </ThreadPrimitive.Viewport>
    <Composer />
  </ThreadPrimitive.Root>,
)

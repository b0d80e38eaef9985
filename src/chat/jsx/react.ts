/** `<plimsoll-chat>` in the JSX of React 19: `import type {} from 'plimsoll/chat/react'`. */
import type {} from 'react'
import type { Handlers, PlimsollChatProps } from './props.ts'

declare module 'react' {
  namespace JSX {
    interface IntrinsicElements {
      'plimsoll-chat': PlimsollChatProps & Handlers
    }
  }
}

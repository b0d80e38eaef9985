/**
 * What both pages of assistant-ui are made of: its primitives and its own Markdown, over an
 * external store.
 */
import {
  AssistantRuntimeProvider,
  ComposerPrimitive,
  MessagePrimitive,
  type ThreadMessageLike,
  useExternalStoreRuntime,
} from '@assistant-ui/react'
import { MarkdownTextPrimitive } from '@assistant-ui/react-markdown'
import { type ReactNode, useState } from 'react'
import { createRoot } from 'react-dom/client'
import { messagesBetween } from '../messages.ts'
import { MESSAGES } from '../plan.ts'
import './assistant-ui.css'

const Text = () => <MarkdownTextPrimitive />

export const MESSAGE_COMPONENTS = {
  UserMessage: () => (
    <MessagePrimitive.Root className="message user">
      <MessagePrimitive.Parts />
    </MessagePrimitive.Root>
  ),
  AssistantMessage: () => (
    <MessagePrimitive.Root className="message">
      <MessagePrimitive.Parts components={{ Text }} />
    </MessagePrimitive.Root>
  ),
}

export const Composer = () => (
  <ComposerPrimitive.Root className="composer">
    <ComposerPrimitive.Input rows={1} aria-label="Message" />
    <ComposerPrimitive.Send>Send</ComposerPrimitive.Send>
  </ComposerPrimitive.Root>
)

/** Shows a thread over all messages. */
export function show(thread: ReactNode): void {
  const root = document.querySelector('#chat')
  if (!root) throw new Error('the page has no #chat')
  createRoot(root).render(<Runtime>{thread}</Runtime>)
}

const stored = messagesBetween(1, MESSAGES + 1).map(
  ({ role, text }, index): ThreadMessageLike => ({ id: `${index + 1}`, role, content: text }),
)

const asIs = (message: ThreadMessageLike): ThreadMessageLike => message

function Runtime({ children }: { readonly children: ReactNode }) {
  const [messages, setMessages] = useState<readonly ThreadMessageLike[]>(stored)
  const runtime = useExternalStoreRuntime<ThreadMessageLike>({
    messages,
    setMessages,
    convertMessage: asIs,
    onNew: async ({ content }) => {
      setMessages((before) => [...before, { role: 'user', content: content as ThreadMessageLike['content'] }])
    },
  })
  return <AssistantRuntimeProvider runtime={runtime}>{children}</AssistantRuntimeProvider>
}

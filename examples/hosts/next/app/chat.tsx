'use client'

import { useChat } from '@ai-sdk/react'
import { DefaultChatTransport, type UIMessage } from 'ai'
import { EDGE } from './edge'

const transport = new DefaultChatTransport({ api: `${EDGE}/v1/sessions/trip/chat` })

/** The browser talks to the edge itself. */
export function Chat({ history }: { history: UIMessage[] }) {
  const { messages, sendMessage } = useChat({ id: 'trip', messages: history, transport, resume: true })
  return (
    <>
      {messages.map(({ id, role, parts }) => (
        <p key={id}>
          {role}: {parts.map((part) => (part.type === 'text' ? part.text : '')).join('')}
        </p>
      ))}
      <form action={(form) => sendMessage({ text: String(form.get('text')) })}>
        <input name="text" aria-label="Write a message" />
        <button type="submit">Send</button>
      </form>
    </>
  )
}

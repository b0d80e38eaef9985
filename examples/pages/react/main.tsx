// A chat over a memory in the browser: its messages, and the context of the next call, by two
// hooks.
import { usePreview, useSession } from 'plimsoll/react'
import { type FormEvent, useState } from 'react'
import { createRoot } from 'react-dom/client'
import { budget, memory, say, textOf } from '../assistant.ts'

function Chat() {
  const { session, messages } = useSession(memory, { userId: 'local', sessionId: 'react' })
  const { context, error } = usePreview(session)
  const [text, setText] = useState('')
  const [problem, setProblem] = useState<unknown>()

  function send(event: FormEvent) {
    event.preventDefault()
    if (text.trim() === '') return
    setText('')
    say(session, text).then(() => setProblem(undefined), setProblem)
  }

  return (
    <>
      <h1>A memory in React</h1>
      <p className="note">
        The replies are scripted: no model is called. Reload the page: what was said stays.
      </p>
      <ol className="messages">
        {messages.map((message) => (
          <li key={message.id} className={message.role}>
            {textOf(message)}
          </li>
        ))}
      </ol>
      <form onSubmit={send}>
        <input
          aria-label="Message"
          placeholder="Where to?"
          value={text}
          onChange={({ target }) => setText(target.value)}
        />
        <button type="submit">Send</button>
      </form>
      <p className="note">
        <meter
          aria-label="Tokens of the next call"
          max={budget.contextWindow}
          value={context?.receipt.used ?? 0}
        />
        {context &&
          `${context.receipt.used} of ${context.receipt.cap} tokens, ${context.blocks.length} blocks`}
      </p>
      <p role="alert">{[problem, error].flatMap((one) => (one ? [String(one)] : [])).join(' ')}</p>
    </>
  )
}

createRoot(document.querySelector('main') as HTMLElement).render(<Chat />)

import { EXCHANGE_BYTES } from '../stores/edge-orders.ts'
import { exchangeAt } from '../stores/messages.ts'

/** A kind of call of the API. */
export interface Kind {
  readonly call: string
  readonly method: string
  readonly path: (session: string) => string
  /** Of the call with this number. Default: none. */
  readonly body?: (number: number, session: string) => object
}

const inSession =
  (path: string) =>
  (session: string): string =>
    `/v1/sessions/${session}/${path}`
const messages = (number: number): object => ({ messages: exchangeAt(number, EXCHANGE_BYTES) })

export const KINDS: readonly Kind[] = [
  { call: 'context with two messages', method: 'POST', path: inSession('context'), body: messages },
  { call: 'append of two messages', method: 'POST', path: inSession('messages'), body: messages },
  { call: 'context alone', method: 'POST', path: inSession('context'), body: () => ({}) },
  { call: 'the last 50 messages', method: 'GET', path: inSession('messages') },
  {
    call: 'fact',
    method: 'POST',
    path: inSession('facts'),
    body: (number) => ({
      kind: 'finding',
      text: `Finding ${number}: ${exchangeAt(number, [80, 1])[0]?.content}`,
    }),
  },
  {
    call: 'checkpoint',
    method: 'PUT',
    path: inSession('checkpoint'),
    body: (number) => ({ value: { step: number } }),
  },
  {
    call: 'chat of one step',
    method: 'POST',
    path: inSession('chat'),
    body: (number) => ({ message: exchangeAt(number, EXCHANGE_BYTES)[0]?.content }),
  },
  {
    call: 'new session',
    method: 'POST',
    path: () => '/v1/sessions',
    body: (number, session) => ({ session_id: `${session}-${number}` }),
  },
]

/** What goes on after an answer, for example a hint to others, is done by then. */
export const AFTER_MS = 25

/** Resolves when the whole answer is there. */
export async function makeCall(
  url: string,
  { call, method, path, body }: Kind,
  session: string,
  number: number,
): Promise<void> {
  const answer = await fetch(url + path(session), {
    method,
    ...(body && {
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(body(number, session)),
    }),
  })
  const text = await answer.text()
  if (!answer.ok) throw new Error(`${call}: ${answer.status} ${text}`)
}

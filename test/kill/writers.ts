import { createHash } from 'node:crypto'
import { EventEmitter } from 'node:events'

/** One write, as it is sent, and sent again. */
export interface Call {
  /** Its `Idempotency-Key`, and the id of what it writes. */
  readonly id: string
  readonly session: string
  readonly method: string
  /** After the session's own path. */
  readonly path: string
  readonly body: unknown
}

export type Kind = 'append' | 'context' | 'fact' | 'checkpoint' | 'chat'

export interface Acknowledged {
  readonly kind: Kind
  readonly call: Call
  /** What was answered first. */
  readonly answer: Answer
}

interface Answer {
  readonly messages?: readonly { readonly id: string }[]
  readonly repeated?: boolean
  readonly mismatch?: boolean
  readonly fact?: { readonly id: string; readonly text: string }
  readonly version?: string
}

/** What became of all calls; tells of each that is acknowledged. */
export class Ledger extends EventEmitter<{ acknowledged: [] }> {
  readonly acknowledged: Acknowledged[] = []
  readonly problems: string[] = []
  /**
   * Chats that were begun, by run: those whose stream came to its end, and those that broke off.
   */
  readonly runs = new Map<string, { readonly call: Call; isWhole: boolean }>()
  unknown = 0
  resent = 0
  repeated = 0
  refusedRuns = 0

  acknowledge(one: Acknowledged): void {
    this.acknowledged.push(one)
    this.emit('acknowledged')
  }
}

/** Status of a call, and its answer; undefined: the connection broke. */
export async function send(url: string, { id, session, method, path, body }: Call) {
  return fetch(`${url}/v1/sessions/${session}/${path}`, {
    method,
    headers: { 'Content-Type': 'application/json', 'Idempotency-Key': id },
    body: JSON.stringify(body),
  })
}

/** Words that no other call has, so that no fact is like another. */
function wordsOf(id: string): string {
  const digest = createHash('sha256').update(id).digest('hex')
  return Array.from({ length: 8 }, (_, index) => digest.slice(index * 8, index * 8 + 8)).join(' ')
}

const message = (id: string) => ({ id, role: 'user', content: `message ${id}`, created_at: 0 })

const CALLS: { readonly [Name in Kind]: (id: string) => Pick<Call, 'method' | 'path' | 'body'> } = {
  append: (id) => ({ method: 'POST', path: 'messages', body: { messages: [message(id)] } }),
  context: (id) => ({
    method: 'POST',
    path: 'context',
    body: { messages: [message(id)], on_pending: 'abandon' },
  }),
  fact: (id) => ({
    method: 'POST',
    path: 'facts',
    body: { kind: 'preference', text: `Of ${id}: ${wordsOf(id)}` },
  }),
  checkpoint: (id) => ({ method: 'PUT', path: 'checkpoint', body: { value: { by: id } } }),
  chat: (id) => ({
    method: 'POST',
    path: 'chat',
    body: { message: { id, role: 'user', parts: [{ type: 'text', text: `chat ${id}` }] } },
  }),
}

/** Sends its calls one after the other, each until it is acknowledged. */
export class Writer {
  readonly #name: string
  readonly #session: string
  readonly #kind: Kind
  readonly #ledger: Ledger
  #sent = 0
  #waiting: { readonly kind: Kind; readonly call: Call } | undefined

  constructor(name: string, session: string, kind: Kind, ledger: Ledger) {
    this.#name = name
    this.#session = session
    this.#kind = kind
    this.#ledger = ledger
  }

  /** Writes until `stopped` says so, or the connection breaks. */
  async run(url: string, stopped: () => boolean): Promise<void> {
    const ledger = this.#ledger
    while (!stopped()) {
      const isAgain = this.#waiting !== undefined
      this.#waiting ??= this.#next()
      const { kind, call } = this.#waiting
      if (isAgain) ledger.resent++
      try {
        const response = await send(url, call)
        const isDone = await (kind === 'chat'
          ? this.#chat(call, response)
          : this.#answered(kind, call, response, isAgain))
        if (!isDone) return
        this.#waiting = undefined
      } catch {
        ledger.unknown++
        return
      }
    }
  }

  #next(): { readonly kind: Kind; readonly call: Call } {
    const number = this.#sent++
    const id = `${this.#name}-${number}`
    // Now and then with the context that it leads to.
    const kind = this.#kind === 'append' && number % 3 === 2 ? 'context' : this.#kind
    return { kind, call: { id, session: this.#session, ...CALLS[kind](id) } }
  }

  async #answered(kind: Kind, call: Call, response: Response, isAgain: boolean): Promise<boolean> {
    const ledger = this.#ledger
    const answer = (await response.json()) as Answer
    // Of new facts a user may have so many an hour.
    if (kind === 'fact' && response.status === 422) return true
    if (response.status !== 200) {
      ledger.problems.push(`${call.id}: status ${response.status} ${JSON.stringify(answer)}`)
      return false
    }
    if (answer.mismatch) ledger.problems.push(`${call.id}: has other content`)
    if (answer.repeated && !isAgain) ledger.problems.push(`${call.id}: repeated although it was sent once`)
    if (answer.repeated) ledger.repeated++
    ledger.acknowledge({ kind, call, answer })
    return true
  }

  /** Acknowledged once it is begun: what was said is stored then. Its stream may break off. */
  async #chat(call: Call, response: Response): Promise<boolean> {
    const ledger = this.#ledger
    const run = response.headers.get('Plimsoll-Run')
    if (response.status !== 200 || run === null) {
      const text = await response.text()
      // Others go on in the same session, and it may have been answered meanwhile.
      if (response.status === 409) ledger.refusedRuns++
      else ledger.problems.push(`${call.id}: status ${response.status} ${text}`)
      return response.status === 409
    }
    const known = ledger.runs.get(run)
    if (!known) {
      ledger.runs.set(run, { call, isWhole: false })
      ledger.acknowledge({ kind: 'chat', call, answer: {} })
    }
    const stream = await response.text()
    if (!stream.endsWith('data: [DONE]\n\n')) ledger.problems.push(`${call.id}: its stream has no end`)
    if (stream.includes('"type":"error"')) ledger.problems.push(`${call.id}: ${stream.slice(-300)}`)
    const now = ledger.runs.get(run)
    if (now) now.isWhole = true
    return true
  }
}

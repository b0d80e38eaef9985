import { messageIn } from '../../kernel/log/bodies.ts'
import type { Message } from '../../ports/message.ts'
import type { Scope } from '../../ports/op.ts'
import type { LogRow } from '../../ports/store.ts'
import type { Refusals } from '../../sync/refusals.ts'
import type { Refused } from '../../sync/refused.ts'
import { isRejected } from '../../sync/state.ts'
import type { Problem } from '../ports.ts'
import { textIn } from '../text.ts'
import type { Outgoing, OutgoingMessage } from './home.ts'

export interface RefusedMessagesParts {
  readonly refusals: Refusals
  readonly scope: Scope
  /** Contract: says it as another message, with its files; durable when it resolves. */
  readonly say: (content: Message['content']) => Promise<void>
  /** Contract: takes back one that waits. */
  readonly takeBack: (id: string) => Promise<void>
}

const GONE: Problem = { code: 'ERR_NOT_FOUND', message: 'chat: its session was deleted', retryable: true }

const CODES: { readonly [reason: string]: Problem['code'] } = {
  'too-large': 'ERR_ENTRY_TOO_LARGE',
  forbidden: 'ERR_FORBIDDEN',
}

/**
 * What the edge refused of what was said, and what was not sent when it deleted the log: the log
 * does not hold it any more.
 */
export class RefusedMessages implements Outgoing {
  readonly #parts: RefusedMessagesParts
  readonly #listeners = new Set<() => void>()
  readonly #stop: () => void
  readonly #refused = new Map<string, Refused>()
  /** What was given back: in this tab alone, as the rest of what was deleted is nowhere. */
  readonly #givenBack = new Map<string, Message>()
  #list: readonly OutgoingMessage[] = []
  #isRead = false

  constructor(parts: RefusedMessagesParts) {
    this.#parts = parts
    this.#stop = parts.refusals.on('rejected', ({ scope: { sessionId } }) => {
      if (sessionId === parts.scope.sessionId) this.#look().catch(() => {})
    })
  }

  list(): readonly OutgoingMessage[] {
    return this.#list
  }

  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  async retry(id: string): Promise<void> {
    const refused = this.#refused.get(id)
    const said = this.#givenBack.get(id) ?? (refused && saidIn(refused))
    if (!said) return
    // Under its own id it would be refused again.
    await this.#parts.say(said.content)
    await this.drop(id)
  }

  async drop(id: string): Promise<void> {
    if (this.#givenBack.delete(id)) return this.#look()
    const refused = this.#refused.get(id)
    if (!refused) return this.#parts.takeBack(id)
    await this.#parts.refusals.discard(refused)
    await this.#look()
  }

  isRefused({ id }: Pick<Message, 'id'>): boolean {
    return this.#refused.has(id)
  }

  /** Reads them, once. */
  async open(): Promise<void> {
    if (!this.#isRead) await this.#look()
  }

  /** Shows again the texts of what was not sent: the log has it no more, nor its files. */
  giveBack(messages: readonly Message[]): Promise<void> {
    for (const message of messages) {
      const content = textIn(message)
      if (content) this.#givenBack.set(message.id, { ...message, content } as Message)
    }
    return this.#look()
  }

  close(): void {
    this.#stop()
  }

  async #look(): Promise<void> {
    const { refusals, scope } = this.#parts
    this.#isRead = true
    const all = await refusals.of(scope)
    this.#refused.clear()
    const list: OutgoingMessage[] = []
    for (const refused of all) {
      const message = messageOf(refused)
      if (!message) continue
      this.#refused.set(message.id, refused)
      // Refused, it left the log as what is deleted does.
      this.#givenBack.delete(message.id)
      list.push(message)
    }
    const back = [...this.#givenBack.values()].map(
      ({ id, createdAt, ...message }): OutgoingMessage => ({
        id,
        text: textIn(message),
        createdAt,
        problem: GONE,
      }),
    )
    list.unshift(...back)
    this.#list = list
    for (const listener of [...this.#listeners]) listener()
  }
}

/** The message of a user in an op; undefined: it wrote something else. */
export function messageOf(refused: Refused): OutgoingMessage | undefined {
  const message = saidIn(refused)
  if (!message) return undefined
  const { refusal } = refused
  const reason = 'rejected' in refusal ? refusal.rejected : 'conflict'
  const isDuplicate = isRejected(refusal, 'duplicate-id')
  const code = CODES[reason] ?? (isDuplicate ? 'ERR_CONFLICT' : 'ERR_INTERNAL')
  const problem = { code, message: `chat: the edge refused it: ${reason}`, retryable: !CODES[reason] }
  // The one that the edge has shows, too.
  const id = isDuplicate ? `${message.id}/${refused.order}` : message.id
  return { id, text: textIn(message), createdAt: message.createdAt, problem }
}

function saidIn({ op, bodies }: Refused): Message | undefined {
  const [id = ''] = op.ids
  if (op.kind !== 'append') return undefined
  const message = messageIn({ id, body: bodies[0] ?? null } as LogRow)
  return message?.role === 'user' ? message : undefined
}

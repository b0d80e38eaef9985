/** A window of the unplugged conversation: a log of its own, which follows that of the service. */
import {
  createMemory,
  lease,
  type Message,
  type Model,
  mapStore,
  runAgent,
  type Session,
} from '../../src/index.ts'
import { textOf } from '../../src/kernel/log/message.ts'
import type { Scope } from '../../src/ports/op.ts'
import { edgeSocket, httpTransport, type SyncedStore, sync } from '../../src/sync/index.ts'

export interface DeviceParts {
  /** Names it among those that may answer. */
  readonly name: string
  /** Where the service is. */
  readonly url: string
  readonly token: string
  readonly scope: Scope
  readonly model: Model
  readonly onChange: () => void
  readonly onFailure: (error: unknown) => void
}

/** What a window shows. */
export interface DeviceState {
  readonly messages: readonly Pick<Message, 'role' | 'content'>[]
  /** As much of a reply as there is. */
  readonly coming: string
  /** Who answers: `held` is this one; else the name of another, or nobody. */
  readonly holder: string
  /** Messages that the service has not confirmed. */
  readonly waiting: number
  readonly isPluggedIn: boolean
  /** Whether another window's reply, which was there first, stands in place of this one's. */
  readonly isReplaced: boolean
  /** Of the request that the next call of a model would be. */
  readonly hash: string
}

export class Device {
  readonly #parts: DeviceParts
  readonly #store: SyncedStore
  readonly #session: Session
  readonly #ends: readonly (() => void)[]
  #isClosed = false
  #isAnswering = false
  #coming = ''
  #holder = ''
  #isPluggedIn = true
  #isReplaced = false
  /** What was answered here and the service has not confirmed, by id. */
  readonly #own = new Map<string, string>()
  state: DeviceState = {
    ...{ messages: [], coming: '', holder: '', hash: '' },
    ...{ waiting: 0, isPluggedIn: true, isReplaced: false },
  }

  constructor(parts: DeviceParts) {
    const { url, token, scope } = parts
    this.#parts = parts
    const transport = httpTransport({ url, token, socket: edgeSocket() })
    // Both windows are in one page: each of them is to send by itself.
    this.#store = sync({ store: mapStore(), transport, lock: false, channel: false })
    this.#session = createMemory({ store: this.#store, budget: 16_000 }).session(scope)
    const look = (): void => this.#attempt(this.#look().then(() => this.#answer()))
    this.#ends = [this.#session.subscribe(look), this.#store.subscribe(() => this.#attempt(this.#look()))]
    look()
  }

  async say(content: string): Promise<void> {
    this.#isReplaced = false
    await this.#session.append({ role: 'user', content })
  }

  plug(isIn: boolean): void {
    if (isIn === this.#isPluggedIn) return
    this.#isPluggedIn = isIn
    if (isIn) this.#store.resume()
    else this.#store.pause()
    this.#attempt(this.#look())
  }

  async close(): Promise<void> {
    this.#isClosed = true
    for (const end of this.#ends) end()
    await this.#store.close()
  }

  /** What fails after it was closed is nobody's business any more. */
  #attempt(task: Promise<void>): void {
    task.catch((error: unknown) => {
      if (!this.#isClosed) this.#parts.onFailure(error)
    })
  }

  async #look(): Promise<void> {
    const messages = await this.#session.history()
    for (const message of messages) {
      if (message.role !== 'assistant') continue
      const text = textOf(message)
      const own = this.#own.get(message.id) ?? (message === messages.at(-1) ? this.#coming : '')
      if (!text.startsWith(own)) this.#isReplaced = true
      if (message.delivery === 'local') this.#own.set(message.id, text)
      else this.#own.delete(message.id)
    }
    // As the next call of a model would have it; nothing is written for that.
    const { hash } = await this.#session.context({ preview: true })
    this.state = {
      messages,
      // Recorded a moment before the run says so.
      coming: messages.at(-1)?.role === 'assistant' ? '' : this.#coming,
      holder: this.#holder,
      waiting: messages.filter(({ delivery }) => delivery === 'local').length,
      isPluggedIn: this.#isPluggedIn,
      isReplaced: this.#isReplaced,
      hash: messages.length > 0 ? hash : '',
    }
    this.#parts.onChange()
  }

  /** Answers the newest message, unless the other window has the lease of it. */
  async #answer(): Promise<void> {
    const newest = (await this.#session.history({ messages: 1 })).at(-1)
    if (this.#isAnswering || newest?.role !== 'user') return
    const { model, name } = this.#parts
    this.#isAnswering = true
    try {
      const run = runAgent({ session: this.#session, model, lease: lease({ holder: name }) })
      for await (const event of run) {
        if (event.type === 'lease') this.#holder = event.status === 'waiting' ? event.holder : event.status
        if (event.type === 'text') this.#coming += event.text
        if (event.type === 'message') this.#coming = ''
        await this.#look()
      }
    } finally {
      this.#coming = ''
      this.#holder = ''
      this.#isAnswering = false
    }
    await this.#look()
    // Something may have been said meanwhile.
    await this.#answer()
  }
}

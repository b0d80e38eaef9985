import { createMemory } from '../../../src/create-memory.ts'
import type { Session } from '../../../src/ports/memory.ts'
import { dexieStore } from '../../../src/stores/dexie.ts'
import { edgeSocket, httpTransport, type SyncedStore, sync } from '../../../src/sync/index.ts'
import {
  type DeviceOrder,
  type Durability,
  type HomeOrder,
  messagesIn,
  OURS,
  PATHS,
  rowsOf,
  TOKEN,
  USER,
} from '../orders.ts'
import type { Device } from './device.ts'
import { streamPokes } from './hints.ts'

const BUDGET = 16_000

interface Ours {
  readonly session: Session
  readonly store: SyncedStore
  close(): Promise<void>
}

function open(
  name: string,
  durability: Durability,
  { url, token, session: sessionId, hints }: HomeOrder,
): Ours {
  const local = dexieStore({ name, durability })
  const calls = httpTransport({ url, token, ...(hints === 'socket' && { socket: edgeSocket() }) })
  const transport = hints === 'events' ? { ...calls, pokes: streamPokes(url) } : calls
  const store = sync({ store: local, transport })
  const session = createMemory({ store, budget: BUDGET }).session({ ...USER, sessionId })
  return {
    session,
    store,
    async close() {
      await session.close()
      await store.close()
      await local.close()
    },
  }
}

/** The store of browsers, which follows a home by HTTP. Cut off: paused. */
export async function openOurs({ name, durability }: DeviceOrder): Promise<Device> {
  const home: HomeOrder = { url: `${location.origin}/${PATHS[OURS]}`, token: TOKEN, session: name }
  const scope = { ...USER, sessionId: name }
  const { session, store, close } = open(name, durability, home)
  store.pause()
  store.follow(scope)
  return {
    async write(exchanges) {
      for (const [asked, answered] of exchanges)
        await session.append([
          { role: 'user', content: asked },
          { role: 'assistant', content: answered },
        ])
    },
    async goOnline() {
      store.resume()
      await store.settled()
    },
    messages: async () => messagesIn(await rowsOf(store, scope)),
    async remove() {
      await close()
      indexedDB.deleteDatabase(name)
    },
  }
}

/** A conversation on a screen, which follows its home all the time. */
export class LiveScreen {
  readonly #ours: Ours
  readonly #list = document.body.appendChild(document.createElement('ul'))
  readonly #end: () => void

  constructor(database: string, order: HomeOrder) {
    this.#ours = open(database, 'relaxed', order)
    this.#end = this.#ours.session.subscribe(() => this.#show())
  }

  async begin(): Promise<void> {
    await this.#ours.session.history()
    await this.#ours.store.settled()
  }

  /** @returns when it was called, Unix milliseconds */
  async say(content: string): Promise<number> {
    const said = Date.now()
    await this.#ours.session.append({ role: 'user', content })
    return said
  }

  /** Resolves after the first frame with that text: when that was, Unix milliseconds. */
  shown(text: string, limitMs: number): Promise<number> {
    return new Promise((resolve, reject) => {
      const late = setTimeout(() => reject(new Error(`“${text}” did not show`)), limitMs)
      const look = (): void => {
        if (this.#list.lastElementChild?.textContent !== text) {
          requestAnimationFrame(look)
          return
        }
        clearTimeout(late)
        // A task after this frame comes when it was painted.
        const { port1, port2 } = new MessageChannel()
        port1.onmessage = () => resolve(Date.now())
        port2.postMessage(null)
      }
      look()
    })
  }

  async close(): Promise<void> {
    this.#end()
    await this.#ours.close()
  }

  #show(): void {
    const { messages } = this.#ours.session.getSnapshot()
    this.#list.replaceChildren(
      ...messages.map(({ content }) => {
        const item = document.createElement('li')
        item.textContent = `${content}`
        return item
      }),
    )
  }
}

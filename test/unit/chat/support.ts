import { IDBFactory, IDBKeyRange } from 'fake-indexeddb'
import type { Home } from '../../../src/chat/homes/home.ts'
import { localHome } from '../../../src/chat/homes/local-home.ts'
import { pageLocks } from '../../../src/chat/homes/locks.ts'
import { memoryStorage } from '../../../src/chat/homes/platform.ts'
import { asModel } from '../../../src/chat/models/function-model.ts'
import { type Chat, openChat } from '../../../src/chat/open-chat.ts'
import type { ChatPlatform, ChatSettings, ChatStorage, Network } from '../../../src/chat/settings.ts'
import type { Store } from '../../../src/index.ts'
import { type FullMemory, fullMemory } from '../../contract/full-memory.ts'
import type { TestService } from './test-service.ts'

/** A network that goes and comes back. */
export class TestNetwork implements Network {
  readonly #listeners = new Set<() => void>()
  #online = true

  isOnline(): boolean {
    return this.#online
  }

  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  set(online: boolean): void {
    this.#online = online
    for (const listener of this.#listeners) listener()
  }
}

/** Ada's sessions over a store, which a function answers. */
export function homeOver(
  store: Store,
  reply: () => string | Promise<string> = () => 'Yes.',
  memory: () => Promise<FullMemory> = async () => fullMemory({ store, budget: 16_000 }),
): Home {
  return localHome({
    store,
    memory,
    userId: 'ada',
    locks: pageLocks(),
    now: () => 7,
    name: 'test',
    close: async () => {},
    model: () => undefined,
    onListed: () => {},
    reply: async () => ({
      model: asModel(async () => reply()),
      tools: [],
      memoryTools: false,
      pageContext: undefined,
    }),
  })
}

export interface Browser {
  readonly platform: Partial<ChatPlatform>
  readonly network: TestNetwork
  readonly factory: IDBFactory
  /** A tab of it. */
  open(settings?: ChatSettings): Chat
}

/** A browser: what its tabs share. @param hears whether tabs hear what another one removes */
export function browser({ hears = false }: { readonly hears?: boolean } = {}): Browser {
  const network = new TestNetwork()
  const factory = new IDBFactory()
  const storage = memoryStorage()
  const platform = { indexedDB: factory, IDBKeyRange, network, storage, locks: pageLocks() }
  const heard = new Set<{ readonly by: ChatStorage; readonly key: string; readonly tell: () => void }>()
  const tab = (): Partial<ChatPlatform> => {
    const own: ChatStorage = {
      ...storage,
      removeItem(removed) {
        const isThere = storage.getItem(removed) !== null
        storage.removeItem(removed)
        for (const { by, key, tell } of isThere ? heard : [])
          if (by !== own && key === removed) setTimeout(tell)
      },
    }
    const onForgotten: ChatPlatform['onForgotten'] = (key, listener) => {
      const each = { by: own, key, tell: () => heard.has(each) && listener() }
      heard.add(each)
      return () => heard.delete(each)
    }
    return { storage: own, onForgotten }
  }
  return {
    platform,
    network,
    factory,
    open: ({ platform: own, ...settings } = {}) =>
      openChat({ ...settings, platform: { ...platform, ...(hears && tab()), ...own } }),
  }
}

/** All texts that any database or key of a browser holds. */
export async function allTexts({ factory, platform }: Browser): Promise<string> {
  const found: unknown[] = []
  for (const { name = '' } of await factory.databases()) {
    const database = await new Promise<IDBDatabase>((resolve, reject) => {
      const request = factory.open(name)
      request.onsuccess = () => resolve(request.result)
      request.onerror = () => reject(request.error)
    })
    for (const store of database.objectStoreNames) {
      const rows = await new Promise((resolve) => {
        const request = database.transaction(store).objectStore(store).getAll()
        request.onsuccess = () => resolve(request.result)
      })
      found.push(rows)
    }
    database.close()
  }
  const bytes = JSON.stringify(found, (_, value) =>
    value instanceof Uint8Array ? new TextDecoder().decode(value) : value,
  )
  return `${bytes} ${platform.storage?.getItem('plimsoll-chat/identity')}`
}

/** A token that names its subject, as those of a service do. */
export function tokenOf(userId: string): string {
  return `x.${btoa(JSON.stringify({ sub: userId }))}.x`
}

export const SRC = 'https://edge.test'

/** A tab of a browser, at a service whose sessions are in this browser, too. */
export function syncedTab(place: Browser, service: TestService, more: ChatSettings = {}): Chat {
  return place.open({
    src: SRC,
    synced: true,
    getToken: () => 'ada',
    ...more,
    platform: { fetch: service.fetch, WebSocket: undefined, ...more.platform },
  })
}

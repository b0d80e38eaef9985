import { IDBFactory, IDBKeyRange } from 'fake-indexeddb'
import { pageLocks } from '../../../src/chat/homes/locks.ts'
import { memoryStorage } from '../../../src/chat/homes/platform.ts'
import { type Chat, openChat } from '../../../src/chat/open-chat.ts'
import type { ChatPlatform, ChatSettings, Network } from '../../../src/chat/settings.ts'

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

export interface Browser {
  readonly platform: Partial<ChatPlatform>
  readonly network: TestNetwork
  readonly factory: IDBFactory
  /** A tab of it. */
  open(settings?: ChatSettings): Chat
}

/** A browser: what its tabs share. */
export function browser(): Browser {
  const network = new TestNetwork()
  const factory = new IDBFactory()
  const platform: Partial<ChatPlatform> = {
    indexedDB: factory,
    IDBKeyRange,
    network,
    storage: memoryStorage(),
    locks: pageLocks(),
  }
  return {
    platform,
    network,
    factory,
    open: ({ platform: own, ...settings } = {}) =>
      openChat({ ...settings, platform: { ...platform, ...own } }),
  }
}

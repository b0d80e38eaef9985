import { webHost } from '../../src/platform/web.ts'
import type { Scope } from '../../src/ports/op.ts'
import type { Store } from '../../src/ports/store.ts'
import type { SyncScope, Transport } from '../../src/ports/sync.ts'
import { mapStore } from '../../src/stores/map.ts'
import { answerPull } from '../../src/sync/answer-pull.ts'
import { answerPush } from '../../src/sync/home.ts'
import { giveAttachment, takeAttachment } from '../../src/sync/home-attachments.ts'
import { refusalsOf } from '../../src/sync/index.ts'
import { readScopes } from '../../src/sync/read.ts'
import { type SyncedStore, sync } from '../../src/sync/sync.ts'
import { hashText } from '../../src/text/hash.ts'
import type { Devices } from './world.ts'

const ADA: Scope = { userId: 'ada' }

/** Two devices of one user, which are offline but when they are told to sync, and their home. */
export class TwoDevices implements Devices {
  readonly places: Readonly<Record<string, Store>>
  readonly stores: readonly [SyncedStore, SyncedStore]
  #toks = 0
  #ids = 0

  /** @param one the rows of the first device; the other one and the home are in memory */
  constructor(one: Store) {
    const [two, home] = [mapStore(), mapStore()]
    this.places = { ' here': one, ' there': two, ' at home': home }
    // Which of two scopes is sent first is the engine's matter: such names are told from others as
    // those that are made from content.
    const newTok = () => hashText(`tok ${++this.#toks}`)
    const of = ({ sessionId }: SyncScope) =>
      home.open({ ...ADA, ...(sessionId !== undefined && { sessionId }) })
    const transport: Transport = {
      push: (all) => Promise.all(all.map((one) => answerPush(of(one), one, { newTok }))),
      pull: (all) => Promise.all(all.map((one) => answerPull(of(one), one, { newTok }))),
      attach: (one, attachment) => takeAttachment(of(one), one, attachment, 1),
      attachment: (one) => giveAttachment(of(one), one),
    }
    const host = {
      ...webHost,
      newId: () => hashText(`sync ${++this.#ids}`),
      newSecret: () => hashText(`secret of sync ${++this.#ids}`),
    }
    const device = (store: Store) => {
      const options = {
        user: ADA,
        lock: false,
        channel: false,
        delayMs: 0,
        baseMs: 1,
        capMs: 1,
        host,
      } as const
      const synced = sync({ store, transport, ...options, random: () => 0.5 })
      synced.pause()
      return synced
    }
    this.stores = [device(one), device(two)]
  }

  async sync(device?: 0 | 1): Promise<void> {
    if (device !== undefined) return this.#sync(device)
    // What the second one sends, the first one fetches after it.
    for (const each of [0, 1, 0, 1] as const) await this.#sync(each)
  }

  async discard(user: Scope): Promise<void> {
    for (const store of this.stores)
      for (const scope of await readScopes(store))
        if (scope.userId === user.userId)
          for (const refused of await refusalsOf(store).of(scope)) await refusalsOf(store).discard(refused)
  }

  async close(): Promise<void> {
    for (const store of this.stores) await store.close()
  }

  async #sync(device: 0 | 1): Promise<void> {
    const store = this.stores[device]
    const ends: (() => void)[] = []
    // What another device wrote to is listed nowhere here.
    for (const sessionId of [undefined, 'trip', 'home'])
      ends.push(store.follow({ ...ADA, ...(sessionId !== undefined && { sessionId }) }))
    store.resume()
    await store.settled()
    store.pause()
    for (const end of ends) end()
  }
}

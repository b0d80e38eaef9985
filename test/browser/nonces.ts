/** A worker of its own realm and thread, as another tab is: writes through the encrypted store. */

import { decide } from '../../src/kernel/log/decide.ts'
import { dexieStore } from '../../src/stores/dexie.ts'
import { encryptedStore, keptKeys } from '../../src/stores/encrypted/index.ts'
import { append, SCOPE } from '../contract/samples.ts'

export interface NonceTask {
  /** Of the database, and of that of the user's key. */
  readonly name: string
  /** Tells the writers' ids apart. */
  readonly prefix: string
  /** Texts to write. */
  readonly count: number
}

const TEXTS_AN_OP = 500

addEventListener('message', async ({ data: { name, prefix, count } }: MessageEvent<NonceTask>) => {
  const store = dexieStore({ name, durability: 'relaxed' })
  const scope = encryptedStore(store, await keptKeys({ name: `${name}-keys` })).open(SCOPE)
  for (let first = 0; first < count; first += TEXTS_AN_OP) {
    const ids = Array.from(
      { length: Math.min(TEXTS_AN_OP, count - first) },
      (_, at) => `${prefix}${first + at}`,
    )
    await scope.commit([append(`${prefix}op-${first}`, ids, { bodies: ids.map(() => '') })], decide)
  }
  const { state } = store.status()
  await store.close()
  postMessage(state)
})

import { env, evictDurableObject } from 'cloudflare:test'
import type { Store } from '../../src/ports/store.ts'
import { encryptedStore } from '../../src/stores/encrypted/index.ts'
import { describeStore } from '../contract/index.ts'
import { describeDifferential } from '../everywhere/differential.ts'
import { describeEncrypted, KEPT, KEYS } from '../everywhere/encrypted.ts'
import { isWhole } from '../everywhere/runs.ts'
import { ObjectStore } from './object-store.ts'

const below = new WeakMap<Store, ObjectStore>()
const newStore = (): ObjectStore => new ObjectStore(env.SESSIONS.get(env.SESSIONS.newUniqueId()))

function encrypted(inner: ObjectStore = newStore()): Store {
  const store = encryptedStore(inner, KEYS)
  below.set(store, inner)
  return store
}

function again(store: Store): Store {
  return encrypted(new ObjectStore((below.get(store) as ObjectStore).stub))
}

// A push has the contract over an encrypted map, and over objects in the clear.
if (isWhole)
  describeStore('encrypted Durable Object', () => encrypted(), {
    kept: KEPT,
    reopen: async (store) => {
      await evictDurableObject((below.get(store) as ObjectStore).stub)
      return again(store)
    },
  })
describeDifferential('encrypted Durable Object', () => encrypted(), { again, runs: 20 })
describeEncrypted('Durable Object', newStore)

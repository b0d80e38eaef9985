import { env, evictDurableObject } from 'cloudflare:test'
import { describeSessionRecall } from '../everywhere/session-recall.ts'
import { ObjectStore } from './object-store.ts'

describeSessionRecall(
  'Durable Object',
  () => new ObjectStore(env.SESSIONS.get(env.SESSIONS.newUniqueId())),
  async (store) => {
    const { stub } = store as ObjectStore
    await evictDurableObject(stub)
    return new ObjectStore(stub)
  },
)

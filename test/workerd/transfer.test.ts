import { env } from 'cloudflare:test'
import { describeTransfer } from '../everywhere/transfer.ts'
import { ObjectStore } from './object-store.ts'

describeTransfer('a Durable Object', () => new ObjectStore(env.SESSIONS.get(env.SESSIONS.newUniqueId())))

import { env } from 'cloudflare:test'
import { describeStart } from '../everywhere/start.ts'
import { ObjectStore } from './object-store.ts'

describeStart('a Durable Object', () => new ObjectStore(env.SESSIONS.get(env.SESSIONS.newUniqueId())))

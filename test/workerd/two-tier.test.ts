import { env } from 'cloudflare:test'
import { mapStore } from '../../src/index.ts'
import { describeTwoTier } from '../everywhere/two-tier.ts'
import { ObjectStore } from './object-store.ts'

describeTwoTier('a Durable Object', () => new ObjectStore(env.SESSIONS.get(env.SESSIONS.newUniqueId())))
describeTwoTier('a map', () => mapStore())

import { env } from 'cloudflare:test'
import { mapStore } from '../../src/index.ts'
import { describeCalculator } from '../everywhere/calculator.ts'
import { ObjectStore } from './object-store.ts'

describeCalculator('a Durable Object', () => new ObjectStore(env.SESSIONS.get(env.SESSIONS.newUniqueId())))
describeCalculator('a map', () => mapStore())

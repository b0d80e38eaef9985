import { env } from 'cloudflare:test'
import { it } from 'vitest'
import { limit, runs } from '../everywhere/runs.ts'
import { checkOver } from '../sync/over.ts'
import { ObjectStore } from './object-store.ts'

it('devices and a home in a Durable Object hold the same, and what those over maps hold', {
  timeout: limit(60_000),
}, async () => {
  const store = new ObjectStore(env.SESSIONS.get(env.SESSIONS.newUniqueId()))
  await checkOver(store, runs(50))
})

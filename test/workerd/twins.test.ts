import { env } from 'cloudflare:test'
import { it } from 'vitest'
import { runs } from '../everywhere/runs.ts'
import { checkForgotten } from '../twins/twins.ts'
import { ObjectStore } from './object-store.ts'

it('two worlds in Durable Objects that differ in a secret are the same once it is forgotten', async () => {
  const { seed, numRuns } = runs(12)
  const open = () => new ObjectStore(env.SESSIONS.get(env.SESSIONS.newUniqueId()))
  await checkForgotten({ open, seed, worlds: numRuns })
})

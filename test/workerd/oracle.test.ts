import { env } from 'cloudflare:test'
import { expect, inject, test } from 'vitest'
import type { Store } from '../../src/ports/store.ts'
import type {} from '../oracle/provided.ts'
import { sidesOf } from '../oracle/sides.ts'
import { survey } from '../oracle/survey.ts'
import { ObjectStore } from './object-store.ts'

const histories = inject('histories')

const sides = sidesOf((build) => ({
  open: () =>
    new ObjectStore(
      env.SESSIONS.get(env.SESSIONS.newUniqueId()),
      (storage) => build.durableObjectStore(storage) as Store,
    ),
}))

test(`the working sources do what the frozen build does in ${histories} histories in Durable Objects`, {
  timeout: 30_000 + 20_000 * histories,
}, async () => {
  expect(await survey({ ...sides, histories })).toBeUndefined()
})

import { expect, inject, test } from 'vitest'
import type {} from '../oracle/provided.ts'
import { sidesOf } from '../oracle/sides.ts'
import { survey } from '../oracle/survey.ts'

const histories = inject('histories')

const sides = sidesOf((build) => {
  const opened: { readonly name: string; readonly store: ReturnType<typeof build.dexieStore> }[] = []
  return {
    open: () => {
      const name = crypto.randomUUID()
      const store = build.dexieStore({ name, durability: 'relaxed', channel: null, mirror: null })
      opened.push({ name, store })
      return store
    },
    close: async () => {
      for (const { name, store } of opened.splice(0)) {
        await store.close()
        indexedDB.deleteDatabase(name)
      }
    },
  }
})

test(`the working sources do what the frozen build does in ${histories} histories on Dexie`, {
  timeout: 30_000 + 20_000 * histories,
}, async () => {
  expect(await survey({ ...sides, histories })).toBeUndefined()
})

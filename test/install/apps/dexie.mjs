import { Dexie } from 'dexie'
import { dexieStore } from 'plimsoll/dexie'
import { refused } from './refused.mjs'

await refused(`plimsoll/dexie: needs \`dexie\` 4 or later, found ${Dexie.semVer}`, () =>
  dexieStore({ name: 'assistant' }),
)

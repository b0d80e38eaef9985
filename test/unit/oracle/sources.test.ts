import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, inject, test } from 'vitest'
import type { History } from '../../oracle/commands.ts'
import { wanted } from '../../oracle/differences.ts'
import { broken } from '../../oracle/judge.ts'
import { play } from '../../oracle/play.ts'
import type {} from '../../oracle/provided.ts'
import { sidesOf } from '../../oracle/sides.ts'
import { survey } from '../../oracle/survey.ts'
import { onDisk, SqliteFiles } from '../support/sqlite-files.ts'

const histories = inject('histories')
const root = join(import.meta.dirname, '../../..')
const known = join(root, 'test/oracle/known')
const sides = sidesOf((build) => ({ open: () => build.mapStore() }))

test(`the working sources do what the frozen build does in ${histories} histories`, {
  timeout: 20_000 + 1_000 * histories,
}, async () => {
  expect(await survey({ ...sides, histories })).toBeUndefined()
})

/** What a history takes longer there, others make up for. */
const onDiskToo = Math.ceil(histories / 4)

test(`they do the same over files of SQLite as in memory in ${onDiskToo} histories`, {
  timeout: 20_000 + 4_000 * onDiskToo,
}, async () => {
  const files = new SqliteFiles()
  try {
    const { built } = sides
    const both = { frozen: built, built: onDisk(built, files) }
    expect(await survey({ ...both, histories: onDiskToo })).toBeUndefined()
  } finally {
    await files.remove()
  }
})

test('each wanted difference has its line in the changelog', () => {
  const changelog = readFileSync(join(root, 'CHANGELOG.md'), 'utf8')
  for (const one of wanted) expect(changelog.split(one.changelog)).toHaveLength(2)
})

test.each(readdirSync(known))('the frozen build still breaks a law in %s, with a reason', async (file) => {
  const { why, breaks, history } = JSON.parse(readFileSync(join(known, file), 'utf8')) as {
    readonly why: string
    readonly breaks: readonly string[]
    readonly history: History
  }
  expect(why).not.toBe('')
  expect(broken(history, await play(history, sides.frozen))).toEqual(breaks)
})

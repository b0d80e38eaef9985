/** What pages download: the budgets of `test/sizes/budgets.ts`, counted. */
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { BUDGETS, TAG_BUDGET } from '../sizes/budgets.ts'
import { bundle } from '../sizes/bundle.ts'
import { weighTag } from '../sizes/tag.ts'
import { builtTag } from '../tag.ts'

const root = resolve(import.meta.dirname, '../..')

test.each(BUDGETS)('$name downloads at most $mostKiB KiB', async ({ mostKiB, goalKiB: _, ...program }) => {
  const { gzipKiB, external } = await bundle(program)
  expect([...external].sort()).toEqual(program.external ?? [])
  expect(gzipKiB).toBeLessThanOrEqual(mostKiB)
})

test('README says what createMemory, standard() and all of it take', async () => {
  const readme = readFileSync(join(root, 'README.md'), 'utf8')
  const said = ['`createMemory`', '… with `standard\\(\\)`[^|]*', 'all of `plimsoll`'].map((row) =>
    Number(new RegExp(`^\\| ${row} \\| (\\d+) \\|$`, 'm').exec(readme)?.[1]),
  )
  const codes = ['export { createMemory }', 'export { createMemory, standard }', 'export *']
  const taken = await Promise.all(
    codes.map((code) => bundle({ name: code, code: `${code} from 'plimsoll'` })),
  )
  expect(said).toEqual(taken.map(({ gzipKiB }) => Math.round(gzipKiB)))
})

test('who imports createMemory alone gets no feature, no operation, no store and no renderer', async () => {
  const { sources } = await bundle({ name: 'alone', code: `export { createMemory } from 'plimsoll'` })
  const folders = new Set(sources.map((path) => /src\/(?:(\w+)\/)?/.exec(path)?.[1] ?? path))
  expect([...folders].filter((folder) => !/node_modules|\.ts$|^<stdin>$/.test(folder)).sort()).toEqual([
    'counters',
    'forgetting',
    'hashes',
    'kernel',
    'platform',
    'ports',
    'text',
  ])
})

test('an operation or a feature that is imported brings no other', async () => {
  const found = async (name: string) =>
    (await bundle({ name, code: `export { ${name} } from 'plimsoll'` })).sources
  expect(await found('rewind')).not.toContainEqual(expect.stringMatching(/src\/(?:features|agent|stores)\//))
  expect(await found('profile')).not.toContainEqual(
    expect.stringMatching(/src\/(?:operations|agent|stores|features\/(?:facts|skills|compaction|recall))\//),
  )
})

test('the widget by one tag shows and answers within its budget', { timeout: 60_000 }, () => {
  const { firstLook, answering, edge } = weighTag(builtTag())
  expect.soft(firstLook).toBeLessThanOrEqual(TAG_BUDGET.firstLook)
  expect.soft(answering).toBeLessThanOrEqual(TAG_BUDGET.answering)
  expect.soft(edge).toBeLessThanOrEqual(TAG_BUDGET.edge)
})

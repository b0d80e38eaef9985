// The table of examples/from/README.md, and the tests of its rows.
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

const PATTERNS = [
  ['Two tiers, tools and five middleware', 'two-tier', 25],
  ['Session start', 'session-start', 25],
  ['Sliding window', 'sliding-window', 23],
  ['Budget and compaction', 'budget', 27],
  ['Log, checkpoint, window', 'log-checkpoint', 27],
] as const

/** A statement begins in the first column, or is one of a loop. */
const STATEMENT = /^(?: {2})?(?:const|let|await|for|if|console|npx)\b/gm

const text = readFileSync('examples/from/README.md', 'utf8')

interface Row {
  readonly name: string
  readonly verdict: string
  readonly how: string
}

function rowsOf(heading: string): readonly Row[] {
  const section = text.split(/^## /m).find((one) => one.startsWith(`${heading}\n`)) ?? ''
  return [...section.matchAll(/^\| (\d+) \| (.+?) \| (\w+) \| (.*?) ?\|$/gm)].map(
    ([, number, words, verdict = '', how = '']) => ({ name: `${number}. ${words}`, verdict, how }),
  )
}

for (const [heading, file, count] of PATTERNS)
  test(`each of the ${count} rows of ${file} has a test of its name`, () => {
    const rows = rowsOf(heading)
    const tests = readFileSync(`test/node/from/${file}.test.ts`, 'utf8')
    const names = [...tests.matchAll(/^test\('(.+?)',/gm)].map(([, name]) => name)
    expect(rows).toHaveLength(count)
    expect(names.sort()).toEqual(rows.map(({ name }) => name).sort())
    for (const { verdict, how } of rows) {
      expect(['works', 'differs']).toContain(verdict)
      if (verdict === 'differs') expect(how).not.toBe('')
    }
  })

test('each program needs no more statements than the table says', () => {
  const programs = [...text.matchAll(/^\| \[([\w.-]+)\]\(\1\) \|.*\| (\d+) \|$/gm)]
  expect(programs).toHaveLength(PATTERNS.length)
  for (const [, file, most] of programs) {
    const program = readFileSync(`examples/from/${file}`, 'utf8')
    expect(program.match(STATEMENT)?.length, file).toBeLessThanOrEqual(Number(most))
  }
})

/** What is mutated, and the tests that judge it. */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Instrumented, instrument } from './mutants.ts'

export const root = join(import.meta.dirname, '../..')

const MUTATED = ['src/text/cap.ts', 'src/kernel/log/*.ts', 'src/kernel/context/*.ts', 'src/forgetting/*.ts']
const SUITES = [
  'test/unit/*.test.ts',
  'test/unit/{agent,long-term,governance,recall,transfer}/*.test.ts',
  'test/unit/counters/{calibrated,calibration,spy}.test.ts',
  'test/unit/oracle/sources.test.ts',
  'test/mutation/histories.ts',
]
/** Suites that compare whole contexts: they see most, and are asked early. */
export const JUDGES = /\/(cap|windows|sources|model|guards|more-guards)\.test\.ts$|\/histories\.ts$/

/** Suites of other parts, of Vitest's own inside, or that take minutes. */
const LEFT_OUT =
  /\/(poisoning|dexie-.*|diff.*|source|peers|chat-jsx|recall-words|retention|round-trip|conversation-hook|meanwhile|twins)\.test\.ts$/

export function suites(): readonly string[] {
  return SUITES.flatMap((pattern) => globSync(pattern, { cwd: root }))
    .filter((file) => !LEFT_OUT.test(file))
    .sort()
}

/** Each mutated module, by its path from the root. */
export function instrumented(): ReadonlyMap<string, Instrumented> {
  const files = MUTATED.flatMap((pattern) => globSync(pattern, { cwd: root })).sort()
  const modules = new Map<string, Instrumented>()
  let first = 1
  for (const file of files) {
    const module = instrument(file, readFileSync(join(root, file), 'utf8'), first)
    modules.set(file, module)
    first += module.mutants.length
  }
  return modules
}

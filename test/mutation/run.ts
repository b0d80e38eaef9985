/**
 * `npm run test:mutation -- [--share 0.1] [--seed N] [--file part] [--line N]`: changes the sources
 * of `kernel/log` and `kernel/context` in one place at a time, and says which changes no test
 * notices. `--share` takes a part of them, chosen by the seed.
 */
import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import { Random } from '../oracle/generate/random.ts'
import { equivalents } from './equivalent.ts'
import type { Mutant } from './mutants.ts'
import { inTurns, Slot } from './pool.ts'
import { instrumented, JUDGES, suites } from './suites.ts'

/** Per cent of the mutants that tests must notice. */
const ENOUGH = 90
/** Tests that take longer judge nothing. */
const SLOW_MS = 8_000
/** So long the quick tests are asked before those that see most. */
const SOON_MS = 1_000
/** A test that goes on for so much longer than without a mutant hangs, on a busy machine too. */
const HANGS_MS = 30_000
/** A mutant that no test has noticed after so much time is taken for a survivor. */
const PATIENCE_MS = '8000'

interface Test {
  readonly file: string
  readonly index: number
  readonly name: string
  readonly ms: number
  readonly reached: ReadonlySet<number>
  runs: number
  kills: number
}

const { values } = parseArgs({
  options: {
    share: { type: 'string', default: '1' },
    seed: { type: 'string' },
    file: { type: 'string', default: '' },
    line: { type: 'string' },
    patience: { type: 'string', default: PATIENCE_MS },
    workers: { type: 'string', default: String(availableParallelism()) },
  },
})
const seed = Number(values.seed ?? Date.now() % 1_000_000)
const share = Number(values.share)
const patience = Number(values.patience)
const workers = Number(values.workers)

const modules = instrumented()
const all = [...modules.values()].flatMap(({ mutants }) => mutants)
const stale = equivalents.filter((one) => !all.some((mutant) => isOf(mutant, one)))
for (const { file, code, original, replacement } of stale)
  console.error(`${file}: no mutant is like this equivalent one: ${original} → ${replacement} in ${code}`)

const counted = all.filter(
  (mutant) =>
    mutant.file.includes(values.file) &&
    (values.line === undefined || mutant.line === Number(values.line)) &&
    !equivalents.some((one) => isOf(mutant, one)),
)
const chosen = sampled(counted, Math.ceil(counted.length * share), seed)
console.log(
  `${chosen.length} of ${counted.length} mutants, seed ${seed}; ${all.length} in all, ${equivalents.length} known as equivalent`,
)

const started = performance.now()
const tests = await learn()
console.log(`${tests.length} tests judge them, learnt in ${seconds(started)} s`)

const survivors: Mutant[] = []
const unreached = new Set<Mutant>()
const ends = { noticed: 0, 'time-out': 0, crash: 0 }
let done = 0
const slots = Array.from({ length: workers }, () => new Slot())
await inTurns(slots, chosen, async (slot, mutant) => {
  if (!(await isNoticed(slot, mutant))) {
    survivors.push(mutant)
    console.error(told(mutant))
  }
  if (++done % 200 === 0)
    console.error(`${done} of ${chosen.length}, ${survivors.length} survive, ${seconds(started)} s`)
})
for (const slot of slots) slot.close()
report()

/**
 * Runs each test without a mutant, forwards and backwards: those that pass judge the mutants that
 * they reach.
 */
async function learn(): Promise<readonly Test[]> {
  const found: Test[] = []
  const learners = Array.from({ length: workers }, () => new Slot({ LEARN: '1' }))
  await inTurns(learners, suites(), async (slot, file) => {
    const listed = await slot.ask({ file, mutant: 0 }, 60_000)
    const names = typeof listed === 'string' ? undefined : listed.names
    if (!names)
      return console.error(`${file} is left out: ${typeof listed === 'string' ? listed : listed.error}`)
    const passed: Test[] = []
    for (const [index, name] of names.entries()) {
      const answer = await slot.ask({ file, test: index, mutant: 0 }, 60_000)
      if (typeof answer === 'string' || answer.error !== undefined || answer.ms > SLOW_MS) {
        const why = typeof answer === 'string' ? answer : (answer.error?.split('\n')[0] ?? 'slow')
        console.error(`${file}: ${name} is left out: ${why}`)
      } else if (answer.reached.length > 0)
        passed.push({ file, index, name, ms: answer.ms, reached: new Set(answer.reached), runs: 0, kills: 0 })
    }
    for (const test of passed.toReversed()) {
      const answer = await slot.ask({ file, test: test.index, mutant: 0 }, 60_000)
      if (typeof answer === 'string' || answer.error !== undefined)
        console.error(`${file}: ${test.name} is left out: it needs those before it`)
      // A long test is expected to see more than a short one.
      else found.push({ ...test, ms: answer.ms, kills: answer.ms / 100 })
    }
  })
  for (const learner of learners) learner.close()
  return found
}

async function isNoticed(shared: Slot, mutant: Mutant): Promise<boolean> {
  const slot = mutant.isStatic ? new Slot({ MUTANT: String(mutant.id) }) : shared
  const reaching = tests.filter(({ reached }) =>
    mutant.isStatic ? reachesModule(reached, mutant) : reached.has(mutant.id),
  )
  if (reaching.length === 0) unreached.add(mutant)
  let spent = 0
  try {
    for (const test of inOrder(reaching)) {
      if (spent > patience) return false
      spent += test.ms
      test.runs++
      const outcome = await run(slot, test, mutant.id)
      if (outcome === undefined) continue
      // A test that fails without the mutant too was spoilt by one before it.
      if (outcome === 'noticed' && !mutant.isStatic && (await run(slot, test, 0)) !== undefined) {
        slot.close()
        if ((await run(slot, test, mutant.id)) === undefined) continue
      }
      test.kills++
      ends[outcome]++
      return true
    }
    return false
  } finally {
    if (slot !== shared) slot.close()
  }
}

/** What notices most for its time, for a second; then the suites that see most, then the rest. */
function inOrder(reaching: readonly Test[]): readonly Test[] {
  const cost = ({ ms, runs, kills }: Test): number => ((ms + 1) * (runs + 4)) / (kills + 1)
  const soon: Test[] = []
  const judges: Test[] = []
  const later: Test[] = []
  let ms = 0
  for (const test of reaching.toSorted((one, other) => cost(one) - cost(other))) {
    ms += test.ms
    const group = ms <= SOON_MS ? soon : JUDGES.test(test.file) ? judges : later
    group.push(test)
  }
  return [...soon, ...judges, ...later]
}

async function run(
  slot: Slot,
  { file, index, ms }: Test,
  mutant: number,
): Promise<keyof typeof ends | undefined> {
  const outcome = await slot.ask({ file, test: index, mutant }, HANGS_MS + 20 * ms)
  if (typeof outcome === 'string') return outcome
  return outcome.error === undefined ? undefined : 'noticed'
}

function reachesModule(reached: ReadonlySet<number>, { file }: Mutant): boolean {
  return modules.get(file)?.mutants.some(({ id }) => reached.has(id)) ?? false
}

function report(): void {
  for (const mutant of survivors.sort((one, other) => one.id - other.id)) console.log(told(mutant))
  console.log()
  for (const file of modules.keys()) {
    const count = (of: readonly Mutant[]) => of.filter((one) => one.file === file).length
    if (count(chosen) > 0) console.log(`${file.padEnd(40)} ${scoreOf(count(chosen), count(survivors))}`)
  }
  console.log(`${'all'.padEnd(40)} ${scoreOf(chosen.length, survivors.length)}`)
  console.log(
    `${ends.noticed} noticed, ${ends['time-out']} hung, ${ends.crash} crashed; seed ${seed}, ${seconds(started)} s`,
  )
  const isChanged = [...instrumented()].some(([file, { text }]) => modules.get(file)?.text !== text)
  if (isChanged) console.error('the sources were changed meanwhile: none of this holds')
  if (percent(chosen.length, survivors.length) < ENOUGH || stale.length > 0 || isChanged) process.exitCode = 1
}

function told(mutant: Mutant): string {
  const { file, line, code, original, replacement } = mutant
  const note = unreached.has(mutant) ? ' (no test comes here)' : ''
  return `\n${file}:${line}${note}\n  ${code}\n  ${short(original)} → ${short(replacement) || 'nothing'}`
}

function scoreOf(mutants: number, left: number): string {
  return `${percent(mutants, left).toFixed(1).padStart(5)} %  ${String(mutants).padStart(5)} mutants, ${left} survive`
}

function percent(mutants: number, left: number): number {
  return mutants === 0 ? 100 : (100 * (mutants - left)) / mutants
}

function isOf(mutant: Mutant, one: (typeof equivalents)[number]): boolean {
  return (['file', 'code', 'original', 'replacement'] as const).every((field) => mutant[field] === one[field])
}

/** So many of them, the same ones for the same seed. */
function sampled<T>(items: readonly T[], count: number, from: number): readonly T[] {
  const random = new Random(from)
  return items
    .map((item) => ({ item, at: random.next() }))
    .sort((one, other) => one.at - other.at)
    .slice(0, count)
    .map(({ item }) => item)
}

function short(text: string): string {
  const line = text.replace(/\s+/g, ' ')
  return line.length > 160 ? `${line.slice(0, 160)} …` : line
}

function seconds(since: number): string {
  return ((performance.now() - since) / 1_000).toFixed(0)
}

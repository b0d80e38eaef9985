/**
 * `npm run test:attack -- [runs] [--seed N] [--seconds N]`: random programs against the public API,
 * each over a store of its own, with crashes and two tabs. `program.ts` has what they do;
 * `talk.ts`, `requests.ts`, `facts.ts`, `kept.ts`, `removal.ts`, `transfer.ts` and `rows.ts` do it
 * and judge it, by rules that share nothing with the library's own checks. A program that breaks
 * one is made smaller and printed.
 */
import { parseArgs } from 'node:util'
import { play } from './play.ts'
import { generate } from './program.ts'
import { shrunk } from './shrink.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { seed: { type: 'string', default: '1' }, seconds: { type: 'string' } },
})
const runs = Number(positionals[0] ?? 200)
const seed = Number(values.seed)
const seconds = Number(values.seconds ?? Number.POSITIVE_INFINITY)
if (!Number.isInteger(runs) || runs < 1 || !Number.isInteger(seed) || !(seconds > 0))
  throw new Error('runs must be a whole number above 0, --seed a whole number, --seconds above 0')

const end = performance.now() + seconds * 1_000
const sum = { built: 0, refused: 0, attested: 0 }
let played = 0
let failed = 0
for (; played < runs && performance.now() < end; played++) {
  const program = generate(seed + played)
  const { broken, ...counts } = await play(program)
  for (const name of ['built', 'refused', 'attested'] as const) sum[name] += counts[name]
  if (broken === undefined) continue
  failed++
  const small = await shrunk(program, async (candidate) => (await play(candidate)).broken !== undefined)
  const { broken: why = broken } = await play(small)
  const { commands, ...settings } = small
  console.log(`--seed ${seed + played}: ${broken}\nin short: ${why}\n${JSON.stringify(settings)}`)
  for (const command of commands) console.log(`  ${JSON.stringify(command)}`)
}
const { built, refused, attested } = sum
console.log(
  `--seed ${seed}: ${played} runs, ${built} contexts, ${refused} refused as too small, ` +
    `${attested} attested afterwards, ${failed} failed`,
)
if (failed > 0) process.exitCode = 1

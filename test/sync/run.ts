/**
 * `npm run test:sync -- [--seeds 10000] [--seed 1] [--steps 40]`: random runs of devices and their
 * home, with all that can go wrong between them. A run that breaks a rule is made smaller, and
 * printed. `--states 3`: all states that two devices come to with so many ops, one crash and one
 * restore, in place of them.
 */
import { parseArgs } from 'node:util'
import { generate, isPartial } from './commands.ts'
import { mapDisk, play, shrunk } from './play.ts'
import { explore } from './states.ts'

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '10000' },
    seed: { type: 'string', default: '1' },
    steps: { type: 'string', default: '40' },
    states: { type: 'string' },
  },
})
const [seeds, seed, steps] = [Number(values.seeds), Number(values.seed), Number(values.steps)]
const started = performance.now()
const took = (): string => `in ${((performance.now() - started) / 1_000).toFixed(1)} s`
await (values.states === undefined ? random() : all(Number(values.states)))

async function all(ops: number): Promise<void> {
  const { states, ends } = await explore({ ops, crashes: 1, restores: 1 })
  console.log(`--states ${ops}: ${states} states, of which ${ends} are ends, ${took()}`)
}

async function random(): Promise<void> {
  let failed = 0
  for (let at = seed; at < seed + seeds; at++) {
    const commands = generate(at, steps)
    const run = (some: typeof commands) => play(some, mapDisk(), {}, isPartial(at))
    const broken = await run(commands)
    if (broken === undefined) continue
    if (++failed > 3) break
    const kind = broken.slice(0, 12)
    const least = await shrunk(commands, async (fewer) => (await run(fewer))?.slice(0, 12) === kind)
    console.log(`--seed ${at}: ${await run(least)}`)
    for (const command of least) console.log(`  ${JSON.stringify(command)}`)
  }
  console.log(`--seed ${seed} --seeds ${seeds} --steps ${steps}: ${failed} failed, ${took()}`)
  if (failed > 0) process.exitCode = 1
}

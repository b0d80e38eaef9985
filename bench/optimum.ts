/**
 * What windows cost beside the least that one could have cost which knew the recording to its end:
 * ours and others', at three floors, over the recordings in `<data>/transcripts`. The picture is
 * written to `--out`.
 */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { loadO200k } from '../src/counters/o200k.ts'
import type { Figures } from '../src/replay/figures.ts'
import { Line } from '../src/replay/optimum.ts'
import { newTallies, replay } from '../src/replay/replay.ts'
import { grouped, percent } from '../src/replay/words.ts'
import type { Bench } from './bench.ts'
import { drawRatios } from './optimum/picture.ts'
import { WINDOWS, type WindowName } from './optimum/windows.ts'
import { InputError, recordingsIn } from './recordings.ts'
import { table } from './table.ts'

const BUDGET = 16_000
const FLOORS = [2_000, 4_000, 8_000] as const
/** Those of the picture come first; the others were not looked at when the rule was chosen. */
const FILES = ['coding-openai', 'tau-airline', 'swe-agent'] as const

export interface Ratio {
  readonly file: string
  readonly floor: number
  readonly policy: WindowName
  readonly ratio: number
  readonly costPerCall: number
  readonly mostTokens: number
  /** Calls that showed less than the floor. */
  readonly below: number
  readonly retained: number | null
}

export const bench: Bench = async ({ data, out, quick, progress }) => {
  if (data === undefined) throw new InputError('say where the recordings are: --data DIR')
  const counter = await loadO200k()
  const names = Object.keys(WINDOWS) as WindowName[]
  const ratios: Ratio[] = []
  for (const file of FILES) {
    const all = await recordingsIn(join(data, 'transcripts'), `${file}.jsonl`)
    const recorded = (quick ? all.slice(0, 2) : all).map(({ conversation }) => conversation)
    for (const floor of FLOORS) {
      progress(`${file}, floor ${floor}`)
      const settings = { budget: BUDGET, floor, counter, policy: 'plimsoll', tail: 0 } as const
      const tallies = newTallies(names)
      for (const conversation of recorded) {
        const line = () => new Line(conversation, settings)
        for await (const _ of replay(conversation, { ...settings, line }, tallies, WINDOWS));
      }
      for (const policy of names) ratios.push(...ratioOf(file, floor, policy, tallies[policy].figures()))
    }
  }
  const drawn = ratios.filter(({ file }) => file === FILES[0])
  if (out !== undefined) await writeFile(out, `${drawRatios(drawn, FLOORS)}\n`)
  const head = ['', 'cost / optimum', 'cost a call', 'most tokens', 'below the floor', 'retained']
  const rows = ratios.map(({ file, floor, policy, ratio, costPerCall, mostTokens, below, retained }) => [
    `${file}, floor ${floor}, ${policy}`,
    ratio.toFixed(3),
    grouped(costPerCall),
    grouped(mostTokens),
    grouped(below),
    retained === null ? '-' : percent(retained),
  ])
  return {
    json: { bench: 'optimum', budgetTokens: BUDGET, counter: counter.id, ratios },
    text: `The line at ${grouped(BUDGET)} tokens, counted by ${counter.id}\n${table([head, ...rows])}`,
  }
}

function ratioOf(file: string, floor: number, policy: WindowName, figures: Figures): readonly Ratio[] {
  const { optimum, costPerCall, maxTokens: mostTokens, retainedShare: retained } = figures
  if (!optimum) return []
  const { ratio, below } = optimum
  return [{ file, floor, policy, ratio, costPerCall, mostTokens, below, retained }]
}

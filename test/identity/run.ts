/**
 * `npm run test:identity -- --data DIR [--budget 4000] [--synced] [--every 1]`: replays
 * DIR/transcripts/*.jsonl in Chromium over Dexie and through the worker in `wrangler dev` over
 * HTTP, and compares the contexts of every call byte by byte. With `--synced` both have one log:
 * the browser is a replica of the edge. `--every 5` takes each fifth recording.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { readConversation } from '../../src/replay/transcript.ts'
import { BrowserSide } from './browser.ts'
import { type Comparison, compare, compareSynced } from './compare.ts'
import { EdgeSide } from './edge.ts'
import { type Replay, replayOf } from './steps.ts'

const { values } = parseArgs({
  options: {
    data: { type: 'string' },
    budget: { type: 'string', default: '4000' },
    synced: { type: 'boolean', default: false },
    every: { type: 'string', default: '1' },
  },
})
if (values.data === undefined) throw new Error('Say where the recordings are: --data DIR')
const budget = Number(values.budget)

interface Recorded {
  readonly file: string
  readonly replay: Replay
}

function recordedIn(folder: string): Recorded[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith('.jsonl'))
    .flatMap((file) =>
      readFileSync(join(folder, file), 'utf8')
        .split('\n')
        .flatMap((line, index) => {
          if (line.trim() === '') return []
          const conversation = readConversation(line, index + 1)
          return { file, replay: replayOf(conversation, `${file}/${index + 1}`) }
        }),
    )
}

/** A worker has one system text: conversations with the same one share it. */
const bySystem = new Map<string | undefined, Recorded[]>()
const all = recordedIn(join(values.data, 'transcripts'))
for (const recorded of all.filter((_, index) => index % Number(values.every) === 0)) {
  const { system } = recorded.replay
  bySystem.set(system, [...(bySystem.get(system) ?? []), recorded])
}
const totals = new Map<string, Comparison[]>()
const started = Date.now()
const browser = await BrowserSide.start()
try {
  let worker = 0
  for (const [system, recorded] of bySystem) {
    console.log(`system text ${++worker} of ${bySystem.size}: ${recorded.length} conversations`)
    const edge = await EdgeSide.start({ budget, system, origin: browser.origin })
    try {
      for (const { file, replay } of recorded) {
        const found = await (values.synced ? compareSynced : compare)(replay, { budget, browser, edge })
        totals.set(file, [...(totals.get(file) ?? []), found])
        for (const difference of found.differences) console.error(`${replay.sessionId} ${difference}`)
      }
    } finally {
      await edge.stop()
    }
  }
} finally {
  await browser.stop()
}

let different = 0
for (const [file, found] of [...totals, ['all', [...totals.values()].flat()] as const]) {
  const sum = (count: (one: Comparison) => number): number =>
    found.reduce((total, one) => total + count(one), 0)
  different = sum(({ differences }) => differences.length)
  console.log(
    `${file}: ${found.length} conversations, ${sum(({ calls }) => calls)} calls compared, of these refused as too small a budget ` +
      `${sum(({ refused }) => refused)}, ${sum(({ epochs }) => epochs)} epochs, ` +
      `${(sum(({ bytes }) => bytes) / 2 ** 20).toFixed(1)} MiB, ${different} differences`,
  )
}
console.log(`${((Date.now() - started) / 1_000).toFixed(0)} s at a budget of ${budget}`)
process.exitCode = different === 0 ? 0 : 1

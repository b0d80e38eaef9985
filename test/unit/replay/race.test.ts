import { describe, expect, it } from 'vitest'
import { defaultCounter } from '../../../src/counters/default.ts'
import { openLog } from '../../../src/inspector/model/log.ts'
import { sampleLog } from '../../../src/inspector/model/sample.ts'
import { contextsOf, RACERS, Race } from '../../../src/replay/race.ts'
import { layOut } from '../../../src/replay/request-diff.ts'
import { settings } from '../inspector/support.ts'
import { jsonl, plimsoll } from '../support/command.ts'
import { calculator, trip } from '../support/recordings.ts'

const files: readonly (readonly [string, string, number])[] = [
  ['the sample conversation', trip['trip.jsonl'], 3_000],
  ['the sample of the page', sampleLog(), 1_200],
  [
    'a file of several conversations and a broken line',
    `${trip['trip.jsonl']}\n{"id":\n${jsonl(calculator)}`,
    2_000,
  ],
]

describe('the race', () => {
  it.each(files)('has the figures of `plimsoll replay --json` for %s', async (_, text, budget) => {
    const log = await openLog('log.jsonl', [text], settings.pause)
    const race = new Race()
    await race.run(log.conversations, { ...settings, budget })
    const argv = ['replay', 'log.jsonl', '--json', '--counter', 'default', '--budget', String(budget)]
    const { figures, malformed, conversations } = JSON.parse(
      (await plimsoll(argv, { 'log.jsonl': text })).out,
    )
    for (const { racer, figures: own } of race.lanes()) {
      const { optimum: _, ...shared } = figures[racer]
      expect(own).toEqual(shared)
    }
    expect(race.lanes().map(({ racer }) => racer)).toEqual([...RACERS])
    expect(log.unreadable.first.map(({ line }) => line)).toEqual(
      malformed.map(({ line }: { line: number }) => line),
    )
    expect(race.done).toBe(conversations)
  })

  it('says at which byte each cache first broke, and the text there is in both requests', async () => {
    const text = trip['trip.jsonl']
    const log = await openLog('log.jsonl', [text], settings.pause)
    const race = new Race()
    await race.run(log.conversations, { ...settings, budget: 3_000 })
    const lanes = Object.fromEntries(race.lanes().map((lane) => [lane.racer, lane]))
    expect(lanes.full?.breaks).toBe(0)
    expect(lanes.full?.firstBreak).toBe(undefined)
    for (const racer of ['plimsoll', 'tokens'] as const) {
      const { breaks = 0, firstBreak } = lanes[racer] ?? {}
      expect(breaks).toBeGreaterThan(0)
      const argv = ['replay', 'log.jsonl', '--counter', 'default', '--budget', '3000', '--policy', racer]
      const { written } = await plimsoll([...argv, '--requests', 'out'], { 'log.jsonl': text })
      const requests = (written.out ?? []).map((line) => layOut(JSON.parse(line).request).text)
      const { call = 0, byte = 0, around } = firstBreak ?? {}
      const bytes = (place: number) => new TextEncoder().encode(requests[place])
      const [before, after] = [bytes(call - 1), bytes(call)]
      expect(after.slice(0, byte)).toEqual(before.slice(0, byte))
      expect(after[byte]).not.toBe(before[byte])
      const rest = (of: Uint8Array) => new TextDecoder().decode(of.slice(byte))
      expect(rest(before).startsWith(around?.before ?? '?')).toBe(true)
      expect(rest(after).startsWith(around?.after ?? '?')).toBe(true)
      // No call before that one parted.
      for (let earlier = 1; earlier < call; earlier++)
        expect(requests[earlier]?.startsWith(requests[earlier - 1]?.replace(/[\]}]+$/, '') ?? '?')).toBe(true)
    }
  })

  it('shows later the very contexts that raced', async () => {
    const log = await openLog('log.jsonl', [trip['trip.jsonl']], settings.pause)
    const race = new Race()
    const at = { ...settings, budget: 3_000, counter: defaultCounter }
    await race.run(log.conversations, at)
    const [logged] = log.conversations
    if (!logged) throw new Error('no conversation')
    const contexts = await contextsOf(logged.conversation, at)
    const used = contexts.map((given) => given?.context.receipt.used)
    expect(used).toEqual(
      race.calls[0]?.map(({ outcomes: { plimsoll } }) =>
        plimsoll && 'tokens' in plimsoll ? plimsoll.tokens : undefined,
      ),
    )
  })

  it('ends where its pause says so', async () => {
    const log = await openLog('log.jsonl', [trip['trip.jsonl']], settings.pause)
    let left = 10
    const pause = async () => {
      if (left-- === 0) throw new Error('stopped')
    }
    const race = new Race()
    await expect(race.run(log.conversations, { ...settings, pause })).rejects.toThrow('stopped')
    expect(race.calls[0]?.length).toBeLessThan(4)
  })
})

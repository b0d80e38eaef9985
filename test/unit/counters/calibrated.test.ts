import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  type CalibratedCounter,
  type Context,
  type Counter,
  calibrated,
  charsPerToken,
  countMessage,
  type EpochMark,
  mapStore,
  type Store,
} from '../../../src/index.ts'
import { contextAt } from '../../../src/operations/context-at.ts'
import { addExchange } from '../../../src/operations/exchange.ts'
import { type FullSession, fullMemory } from '../../contract/full-memory.ts'
import { histories } from '../support/histories.ts'
import { runs } from '../support/runs.ts'
import { Scene } from '../support/scene.ts'

const base = charsPerToken(4)
/** What the provider says: more than the estimate, as for Chinese. */
const provider = charsPerToken(2.5)

const reported = ({ blocks }: Context): number =>
  blocks.reduce((sum, { parts }) => sum + countMessage(provider, { content: parts }), 3)

function open(counter: Counter, store: Store = mapStore(), budget = 1_000): FullSession {
  return fullMemory({ store, budget, counter, clock: () => 0 }).session({ userId: 'ada' })
}

async function say(session: FullSession, rounds: number, words = 30): Promise<void> {
  for (let round = 0; round < rounds; round++)
    await addExchange(session, 'word '.repeat(words).trim(), 'answer '.repeat(words).trim())
}

describe('a calibrated counter', () => {
  it('counts as the counter that it is made of until a provider reported something', async () => {
    const counter = calibrated(base)
    expect(counter).toMatchObject({ id: 'calibrated/chars/4', kind: 'estimate', perRequest: 0 })
    expect(counter.count('abcdefgh')).toBe(2)
    expect(countMessage(counter, { content: 'abcdefgh' })).toBe(6)
    expect(counter.calibration()).toBeUndefined()
    const session = open(counter)
    await say(session, 2)
    const { receipt } = await session.context()
    expect(receipt).not.toHaveProperty('calibration')
  })

  it('changes nothing within an epoch, and is recorded by the next one', async () => {
    const counter = calibrated(base)
    const store = mapStore()
    const session = open(counter, store, 1_500)
    await say(session, 2)
    const before = await session.context()
    counter.report(before, Math.round(before.receipt.used * 1.5))
    const same = await session.context()
    expect(same.hash).toBe(before.hash)
    expect(same.receipt).toEqual(before.receipt)

    const after = await session.context({ newEpoch: true })
    expect(after.receipt.calibration).toBeCloseTo(1.5, 2)
    const ratio = after.receipt.used / before.receipt.used
    expect(ratio).toBeGreaterThan(1.49)
    expect(ratio).toBeLessThan(1.55)
    const changes = await store.open({ userId: 'ada', sessionId: 'default' }).changesSince(0)
    const marks = changes.rows
      .filter(({ kind }) => kind === 'epoch')
      .map(({ body }) => JSON.parse(body ?? ''))
    expect(marks.map(({ calibration }: EpochMark) => calibration)).toEqual([
      undefined,
      after.receipt.calibration,
    ])
  })

  it('goes by the last eight reports together, and rounds up', async () => {
    const counter = calibrated(base)
    const session = open(counter)
    await say(session, 2)
    const context = await session.context()
    const { used } = context.receipt
    counter.report(context, used * 3)
    expect(counter.calibration()).toBe(3)
    for (let report = 0; report < 7; report++) counter.report(context, used)
    expect(counter.calibration()).toBe(1.25)
    counter.report(context, used)
    expect(counter.calibration()).toBe(1)
    counter.report(context, used + 1)
    expect(counter.calibration()).toBe(Math.ceil((1 + 1 / used / 8) * 1_000) / 1_000)
    expect(counter.calibration()).toBeGreaterThan(1)
  })

  it('passes over a context that fills little of its cap: what is added to every request would weigh too much', async () => {
    const counter = calibrated(base)
    const session = open(counter)
    await session.append({ role: 'user', content: 'Hi.' })
    const greeting = await session.context()
    counter.report(greeting, greeting.receipt.used + 350)
    expect(counter.calibration()).toBeUndefined()
  })

  it('goes on with the ratio of its epoch where nothing could be built under the reported one', async () => {
    const counter = calibrated(base)
    const one = open(counter)
    await say(one, 4)
    const context = await one.context()
    counter.report(context, context.receipt.used * 4)
    const other = open(counter)
    await other.append({ role: 'user', content: 'word '.repeat(500) })
    const { receipt } = await other.context()
    expect(receipt.used).toBeGreaterThan(600)
    expect(receipt).not.toHaveProperty('calibration')
  })

  it('begins no epoch for a report under which nothing would fit', async () => {
    const counter = calibrated(base)
    const store = mapStore()
    const session = sessionOf(store, counter)
    await session.append({ role: 'user', content: 'word '.repeat(100) })
    const tail = 'a'.repeat(1_200)
    const first = await session.context({ tail })
    counter.report(first, Math.round(first.receipt.used * 1.6))
    for (const asked of [session, session, sessionOf(store, counter)])
      expect((await asked.context({ tail })).hash).toBe(first.hash)
  })

  it('takes what is reported of a calibrated context for what it is', async () => {
    const counter = calibrated(base)
    const session = open(counter, mapStore(), 1_500)
    await say(session, 2)
    const plain = await session.context()
    for (let report = 0; report < 8; report++) counter.report(plain, plain.receipt.used * 1.5)
    const anchored = await session.context({ newEpoch: true })
    for (let report = 0; report < 8; report++) counter.report(anchored, anchored.receipt.used)
    expect(counter.calibration()).toBeGreaterThanOrEqual(1.5)
    expect(counter.calibration()).toBeLessThan(1.55)
  })

  it('reads the usage of OpenAI, and of Anthropic with what its cache held', async () => {
    const session = open(base)
    await say(session, 2)
    const context = await session.context()
    const { used } = context.receipt
    const half = used / 2
    const usages = [
      used * 2,
      { prompt_tokens: used * 2 },
      { input_tokens: used * 2 },
      { input_tokens: half, cache_read_input_tokens: used, cache_creation_input_tokens: half },
      { input_tokens: used * 2, cache_read_input_tokens: null },
    ]
    for (const usage of usages) {
      const counter = calibrated(base)
      counter.report(context, usage)
      expect(counter.calibration()).toBe(2)
    }
    const counter = calibrated(base)
    for (const usage of [{ prompt_tokens: null }, { input_tokens: null }, {}, undefined, null])
      counter.report(context, usage)
    expect(counter.calibration()).toBeUndefined()
  })

  it('refuses a count that is none, and holds a mistaken one within four times', async () => {
    const counter = calibrated(base)
    const session = open(counter)
    await say(session, 2)
    const context = await session.context()
    for (const tokens of [0, -1, Number.NaN, Number.POSITIVE_INFINITY])
      expect(() => counter.report(context, tokens)).toThrow(
        expect.objectContaining({ code: 'ERR_INVALID_ARGUMENT', argument: 'usage' }),
      )
    expect(counter.calibration()).toBeUndefined()
    counter.report(context, 1)
    expect(counter.calibration()).toBe(0.25)
    counter.report(context, 1e9)
    expect(counter.calibration()).toBe(4)
  })

  it('begins an epoch at once where the next request would be over the line', async () => {
    const counter = calibrated(base)
    const session = open(counter)
    await say(session, 20)
    const before = await session.context()
    expect(reported(before)).toBeLessThan(before.receipt.used * 2)
    counter.report(before, Number(before.receipt.cap) + 1)
    const after = await session.context()
    expect(after.receipt.epoch).toMatchObject({ cause: 'budget' })
    expect(after.receipt.used).toBeLessThanOrEqual(Number(after.receipt.cap) - after.receipt.margin)
    expect(await session.context()).toEqual(after)
  })

  it('is kept in the log: who comes later, without any report, builds the same bytes', async () => {
    await fc.assert(
      fc.asyncProperty(histories, async (actions) => {
        const counter = calibrated(base)
        const scene = new Scene({ budget: 600, counter })
        let epoch = ''
        let factor: number | undefined
        await scene.play(actions, async (context, action) => {
          const { receipt } = context
          expect(receipt.used + receipt.margin).toBeLessThanOrEqual(receipt.cap ?? Infinity)
          if (context.epoch === epoch) expect(receipt.calibration).toBe(factor)
          epoch = context.epoch
          factor = receipt.calibration
          const later = sessionOf(scene.store, calibrated(base))
          const cold = await scene.context(action, later, true)
          expect(cold?.hash).toBe(context.hash)
          expect(cold?.blocks).toEqual(context.blocks)
          expect(cold?.receipt.used).toBe(receipt.used)
          counter.report(context, Math.max(1, reported(context)))
        })
      }),
      runs(60),
    )
  })

  it('lets no request over the line by the provider’s count once there was a report; the bare estimate does', async () => {
    const over = async (counter: Counter, report: (context: Context) => void): Promise<number> => {
      const session = open(counter, mapStore(), 2_000)
      let calls = 0
      for (let call = 0; call < 120; call++) {
        await session.append({ role: 'user', content: `question ${call} `.repeat(12) })
        const context = await session.context()
        if (reported(context) > 2_000) calls++
        report(context)
        await session.append({ role: 'assistant', content: `answer ${call} `.repeat(15) })
      }
      return calls
    }
    const counter = calibrated(base)
    expect(await over(counter, (context) => counter.report(context, reported(context)))).toBe(0)
    expect(await over(base, () => {})).toBeGreaterThan(10)
  })

  it('is inherited by the next epoch where nothing was reported since', async () => {
    const counter = calibrated(base)
    const store = mapStore()
    const session = open(counter, store, 1_500)
    await say(session, 2)
    const first = await session.context()
    counter.report(first, first.receipt.used * 1.5)
    const { receipt } = await session.context({ newEpoch: true })
    const later = await open(calibrated(base), store, 1_500).context({ newEpoch: true })
    expect(later.receipt).toMatchObject({ epoch: { place: 3 }, calibration: receipt.calibration })
  })

  it('scales what a request costs beside its messages too', async () => {
    const counter = { ...base, perRequest: 10, calibration: () => 2 }
    const session = open(counter)
    await session.append({ role: 'user', content: 'abcdefgh' })
    expect((await session.context()).receipt.used).toBe(2 * (4 + 2) + 2 * 10)
  })

  it('makes the calibration part of the name of an epoch, so that two that differ are never taken for one', async () => {
    const epochs: string[] = []
    for (const factor of [1, 1.5, 2]) {
      const counter = { ...base, calibration: () => factor }
      const session = open(counter)
      await session.append({ id: 'm1', role: 'user', content: 'Hi.' })
      epochs.push((await session.context()).epoch)
    }
    expect(new Set(epochs).size).toBe(3)
  })

  it('is rebuilt by contextAt with the calibration of its epoch', async () => {
    const counter: CalibratedCounter = calibrated(base)
    const session = open(counter, mapStore(), 1_500)
    await say(session, 3)
    const first = await session.context()
    counter.report(first, Math.round(first.receipt.used * 1.4))
    const anchored = await session.context({ newEpoch: true })
    const [newest] = (await session.history()).slice(-1)
    await say(session, 1)
    const { context, verified } = await contextAt(session, newest?.id ?? '')
    expect(verified).toBe(true)
    expect(context.receipt.calibration).toBe(anchored.receipt.calibration)
  })
})

function sessionOf(store: Store, counter: Counter): FullSession {
  const memory = fullMemory({ store, budget: 600, counter, clock: () => 0, newId: () => 'unused' })
  return memory.session({ userId: 'ada', sessionId: 'trip' })
}

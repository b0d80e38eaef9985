import { describe, expect, it } from 'vitest'
import { type Context, charsPerToken, mapStore, type Store } from '../../src/index.ts'
import { type FullSession, memoryWith } from '../contract/full-memory.ts'
import {
  content,
  open,
  round,
  type Summariser,
  scope,
  summariesIn,
  summariser,
} from './support/compacting.ts'

const AHEAD = 0.8

/**
 * A model that answers on demand, as one that is asked by a process that may die before.
 */
function held(): Summariser & { readonly release: () => void } {
  const waiting: (() => void)[] = []
  const model = summariser(
    () => new Promise((resolve) => waiting.push(() => resolve('They planned a trip.'))),
  )
  return Object.assign(model, {
    release: () => {
      for (const go of waiting.splice(0)) go()
    },
  })
}

const causeOf = ({ epoch }: Context['receipt']) => (typeof epoch === 'string' ? epoch : epoch.cause)

/** Rounds, each followed by a context, until one is near the line; where the next one is. */
async function untilNear(session: FullSession, from = 0): Promise<number> {
  for (let index = from; ; index++) {
    await session.append(round(index))
    const { used, cap } = (await session.context()).receipt
    if (used >= AHEAD * Number(cap)) return index + 1
  }
}

/** A log that came near the line in a process that died while its model wrote. */
async function interrupted(): Promise<{ readonly store: Store; readonly next: number }> {
  const store = mapStore()
  const session = open({ model: held(), ahead: AHEAD }, {}, store)
  const next = await untilNear(session)
  expect(session.compaction.isRunning).toBe(true)
  return { store, next }
}

describe('a summary that is written later', () => {
  it('by another process is the one that the first would have written, and the next epoch shows it without a wait', async () => {
    const store = mapStore()
    const model = content()
    const session = open({ model, ahead: AHEAD }, {}, store)
    await untilNear(session)
    await session.compaction.settled()
    expect(session.compaction.isRunning).toBe(false)

    const died = await interrupted()
    const later = content()
    const second = open({ model: later, ahead: AHEAD }, {}, died.store)
    expect(await second.compaction.run()).toEqual({ status: 'summarised', by: 'summariser', reasons: [] })
    expect(later.requests).toEqual(model.requests)
    const told = (marks: Awaited<ReturnType<typeof summariesIn>>) =>
      marks.map(({ id, upto, count, of, seen, text, applied }) => [id, upto, count, of, seen, text, applied])
    expect(told(await summariesIn(died.store))).toEqual(told(await summariesIn(store)))

    const again = open({ model: held(), ahead: AHEAD }, {}, died.store)
    for (let index = died.next; ; index++) {
      await again.append(round(index))
      const { receipt } = await again.context()
      if (causeOf(receipt) === 'start') continue
      expect(receipt.summary?.place).toBe(1)
      expect(receipt.omitted).toEqual([])
      break
    }
  })

  it('is written once, however often it is asked for', async () => {
    const { store } = await interrupted()
    const model = content()
    const tabs = [open({ model, ahead: AHEAD }, {}, store), open({ model, ahead: AHEAD }, {}, store)]
    for (const tab of [...tabs, ...tabs]) await tab.compaction.run()
    expect(await tabs[0]?.compaction.run()).toEqual({ status: 'none' })
    expect(model.requests.length).toBe(1)
    expect((await summariesIn(store)).length).toBe(1)
  })

  it('counts once where two processes write it at the same time: the second mark is inert', async () => {
    const { store } = await interrupted()
    const models = [held(), held()]
    const done = models.map((model) => open({ model, ahead: AHEAD }, {}, store).compaction.run())
    while (models.some(({ requests }) => requests.length === 0)) await new Promise((go) => setTimeout(go))
    for (const { release } of models) release()
    await Promise.all(done)
    const marks = await summariesIn(store)
    expect(marks.filter(({ applied }) => applied).length).toBe(1)
    expect((await open({ model: content(), ahead: AHEAD }, {}, store).compaction.run()).status).toBe('none')
  })

  it('waits for the one that is being written, while other calls go on', async () => {
    const model = held()
    const store = mapStore()
    const session = open({ model, ahead: AHEAD }, {}, store)
    const next = await untilNear(session)
    let done = false
    const compacting = session.compaction.run().then((compacted) => {
      done = true
      return compacted
    })
    await session.append(round(next))
    await session.history()
    expect(done).toBe(false)
    model.release()
    expect(await compacting).toEqual({ status: 'none' })
    expect(model.requests.length).toBe(1)
    expect((await summariesIn(store)).length).toBe(1)
  })

  it('does not keep other calls waiting while its own model writes', async () => {
    const { store, next } = await interrupted()
    const model = held()
    const session = open({ model, ahead: AHEAD }, {}, store)
    const compacting = session.compaction.run()
    while (model.requests.length === 0) await new Promise((go) => setTimeout(go))
    expect(session.compaction.isRunning).toBe(true)
    await session.append(round(next))
    model.release()
    expect((await compacting).status).toBe('summarised')
  })

  it('is not written far from the line, without an epoch, nor in a memory that does not compact', async () => {
    const model = content()
    const store = mapStore()
    const session = open({ model, ahead: AHEAD }, {}, store)
    expect(await session.compaction.run()).toEqual({ status: 'none' })
    await session.append(round(0))
    await session.context()
    expect(await session.compaction.run()).toEqual({ status: 'none' })
    expect(model.requests).toEqual([])
    const plain = memoryWith(['compaction'], { store, budget: 1_000, counter: charsPerToken(4) }).session(
      scope,
    )
    expect(plain.compaction).toBeUndefined()
  })

  it('is written of a window that has passed the line since the last context, and that context adopts it', async () => {
    const { store, next } = await interrupted()
    const model = content()
    const session = open({ model, ahead: AHEAD }, {}, store)
    for (let index = next; index < next + 4; index++) await session.append(round(index))
    expect((await session.compaction.run()).status).toBe('summarised')
    const { receipt } = await session.context()
    expect(causeOf(receipt)).toBe('window')
    expect(receipt.summary?.place).toBe(1)
    expect(model.requests.length).toBe(1)
  })

  it('is not written where the next epoch begins for another reason', async () => {
    const { store } = await interrupted()
    const model = content()
    const session = open({ model, ahead: AHEAD }, {}, store)
    // A message of a round that others have followed.
    await session.append({ role: 'assistant', content: 'By the way.' }, { round: 'q1' })
    expect(await session.compaction.run()).toEqual({ status: 'none' })
    expect(model.requests).toEqual([])
  })

  it('is asked for with `ahead: false` too, when the window came near the line', async () => {
    const model = content()
    const session = open({ model, ahead: false })
    await session.append(round(0))
    await session.context()
    expect((await session.compaction.run()).status).toBe('none')
    await untilNear(session, 1)
    expect(session.compaction.isRunning).toBe(false)
    expect((await session.compaction.run()).status).toBe('summarised')
  })

  it('is that of the lane whose limits are given', async () => {
    const model = held()
    const limits = { window: { max: { tokens: 500 } } }
    const store = mapStore()
    const session = open({ model, ahead: AHEAD }, {}, store)
    for (let index = 0; !session.compaction.isRunning; index++) {
      await session.append(round(index))
      await session.context({ limits })
    }
    const later = content()
    const again = open({ model: later, ahead: AHEAD }, {}, store)
    expect((await again.compaction.run()).status).toBe('none')
    expect((await again.compaction.run({ limits })).status).toBe('summarised')
    await expect(again.compaction.run({ limits: { window: { max: { tokens: -1 } } } })).rejects.toMatchObject(
      {
        code: 'ERR_INVALID_ARGUMENT',
      },
    )
  })

  it('says why it was refused, and leaves the log as it was', async () => {
    const { store } = await interrupted()
    const pins = () => Promise.reject(new Error('no pins today'))
    const session = open({ model: content(), ahead: AHEAD, pins }, {}, store)
    expect(await session.compaction.run()).toEqual({
      status: 'refused',
      reasons: ['the pins could not be read: no pins today'],
    })
    expect(await summariesIn(store)).toEqual([])
  })
})

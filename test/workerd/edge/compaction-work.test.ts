import { env, evictDurableObject, runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test'
import { describe, expect, it, vi } from 'vitest'
import { charsPerToken } from '../../../src/counters/simple.ts'
import { durableObjectMemory, durableObjectStore } from '../../../src/durable-object.ts'
import {
  COMPACT,
  compactionHandler,
  scheduleCompaction,
  writtenSoon,
} from '../../../src/edge/objects/compaction-work.ts'
import { objectAlarms } from '../../../src/edge/work/alarms.ts'
import type { WorkHandler } from '../../../src/edge/work/work.ts'
import { WorkQueue } from '../../../src/edge/work/work-queue.ts'
import { type CompactionShape, compaction, type Session } from '../../../src/index.ts'
import { webHost } from '../../../src/platform/web.ts'
import type { Model, ModelEvent } from '../../../src/ports/model.ts'
import { changeSessions } from './changed-settings.ts'
import { newObject, TestClock } from './in-object.ts'
import { said, World } from './world.ts'

const SCOPE = { userId: 'ada', sessionId: 'trip' }
/** The test runner logs every abort but those with this reason. */
const REASON = 'Instance dispose'
const ROUND = 'The train to the coast leaves in the morning and comes back at night. '.repeat(2)

interface Opened {
  readonly session: Session<{ compaction: CompactionShape }>
  readonly queue: WorkQueue
  readonly state: DurableObjectState
}

/** An object of one session that compacts, made again in its constructor. */
class Compacting {
  readonly clock = new TestClock()
  readonly #id = newObject().id
  readonly #answer: () => Promise<string>
  readonly #around: (handler: WorkHandler) => WorkHandler
  requests = 0
  #opened: (Opened & { readonly instance: unknown }) | undefined
  #rounds = 0

  constructor(
    answer: () => Promise<string>,
    around: (handler: WorkHandler) => WorkHandler = (handler) => handler,
  ) {
    this.#answer = answer
    this.#around = around
  }

  get stub(): DurableObjectStub {
    return env.SESSIONS.get(this.#id)
  }

  with<Result>(run: (opened: Opened) => Result | Promise<Result>): Promise<Result> {
    return runInDurableObject(this.stub, async (instance, state) => {
      if (this.#opened?.instance !== instance) {
        const ask = (): Promise<string> => {
          this.requests++
          return this.#answer()
        }
        const model: Model = {
          id: 'summariser',
          async *complete(): AsyncGenerator<ModelEvent> {
            const message = { role: 'assistant', content: await ask() } as const
            yield { type: 'finish', message, reason: 'stop' }
          },
        }
        const session = durableObjectMemory(state, {
          budget: { contextWindow: 1_000, maxOutputTokens: 0, margin: 0 },
          counter: charsPerToken(4),
          use: [compaction({ model })],
        }).session(SCOPE)
        const queue: WorkQueue = new WorkQueue({
          storage: state.storage,
          alarms: objectAlarms(state.storage),
          host: { ...webHost, now: this.clock.now },
          handlers: { [COMPACT]: this.#around(compactionHandler(() => session)) },
        })
        this.#opened = { instance, session, queue, state }
        Object.assign(instance, { alarm: () => queue.run() })
        await queue.ensureArmed()
      }
      return run(this.#opened as Opened)
    })
  }

  /**
   * A round, and a context after it. @returns how many summaries its window stands on, and whether
   * one is being written
   */
  turn(): Promise<{ readonly place: number; readonly isCompacting: boolean }> {
    return this.with(async ({ session, queue }) => {
      const index = this.#rounds++
      await session.append([
        { id: `q${index}`, role: 'user', content: `Question ${index}. ${ROUND}` },
        { id: `a${index}`, role: 'assistant', content: `${ROUND} Answer ${index}.` },
      ])
      const { receipt } = await session.context()
      const { isRunning } = session.compaction
      await scheduleCompaction(queue, session, this.clock.at)
      return { place: receipt.summary?.place ?? 0, isCompacting: isRunning }
    })
  }

  async untilCompacting(): Promise<void> {
    for (let index = 0; index < 40; index++) if ((await this.turn()).isCompacting) return
    throw new Error('nothing was written ahead of need')
  }

  alarm(): Promise<number | null> {
    return this.with(({ state }) => state.storage.getAlarm())
  }

  async ring(): Promise<boolean> {
    const at = await this.alarm()
    if (at !== null) this.clock.at = Math.max(at, this.clock.at)
    return runDurableObjectAlarm(this.stub)
  }

  /** Ends the object as it is, and what it was writing with it. */
  async die(): Promise<void> {
    await expect(this.with(({ state }) => state.abort(REASON))).rejects.toThrow(REASON)
  }

  summaries(): Promise<{ readonly all: number; readonly applied: number }> {
    return this.with(async ({ state }) => {
      const { rows } = await durableObjectStore(state.storage)
        .open(SCOPE)
        .entries({ kinds: ['summary'], last: 50 })
      return { all: rows.length, applied: rows.filter(({ applied }) => applied).length }
    })
  }
}

const hangs = (): Promise<string> => new Promise(() => {})
const says = async (): Promise<string> => 'They planned a trip.'

describe('compaction at the edge', () => {
  it('costs no alarm and no row far from the line', async () => {
    const object = new Compacting(says)
    await object.turn()
    expect(await object.alarm()).toBeNull()
    expect(
      await object.with(({ state }) =>
        state.storage.sql.exec(`SELECT name FROM sqlite_master WHERE name LIKE 'plimsoll_edge%'`).toArray(),
      ),
    ).toEqual([])
  })

  it('ends in the alarm though the object died while it was written, and the next epoch shows it without asking a model', async () => {
    let answer = hangs
    const object = new Compacting(() => answer())
    await object.untilCompacting()
    expect(object.requests).toBe(1)
    await object.die()
    answer = says
    expect(await object.summaries()).toEqual({ all: 0, applied: 0 })
    expect(await object.ring()).toBe(true)
    expect(await object.summaries()).toEqual({ all: 1, applied: 1 })
    expect(object.requests).toBe(2)
    expect(await object.alarm()).toBeNull()
    await evictDurableObject(object.stub)
    let place = 0
    for (let index = 0; index < 6 && place === 0; index++) place = (await object.turn()).place
    expect(place).toBe(1)
    expect(object.requests).toBe(2)
  })

  it('is waited for by the alarm where it is still being written, and written once', async () => {
    let release: (text: string) => void = () => {}
    const object = new Compacting(() => new Promise((resolve) => (release = resolve)))
    await object.untilCompacting()
    let rang = false
    const ringing = object.ring().then(() => {
      rang = true
    })
    await object.turn()
    expect(rang).toBe(false)
    await object.with(() => release('They planned a trip.'))
    await ringing
    expect(await object.summaries()).toEqual({ all: 1, applied: 1 })
    expect(object.requests).toBe(1)
  })

  it('that was written although its work was not crossed out is not written again', async () => {
    const object = new Compacting(says)
    await object.untilCompacting()
    await object.with(({ session }) => session.compaction.settled())
    for (let index = 0; index < 3; index++) {
      await object.with(({ queue }) => queue.schedule(COMPACT, object.clock.at))
      expect(await object.ring()).toBe(true)
    }
    expect(await object.summaries()).toEqual({ all: 1, applied: 1 })
    expect(object.requests).toBe(1)
  })

  it('that fails three times and then works has run once in effect (T9)', async () => {
    let answer = hangs
    let failures = 0
    const object = new Compacting(
      () => answer(),
      (handler) => async (payload, attempt) => {
        if (failures++ < 3) throw new Error('storage is away')
        return handler(payload, attempt)
      },
    )
    await object.untilCompacting()
    await object.die()
    answer = says
    let rings = 0
    while (await object.ring()) rings++
    expect(rings).toBe(4)
    expect(await object.summaries()).toEqual({ all: 1, applied: 1 })
    expect(object.requests).toBe(2)
  })

  it('that always fails is quarantined, while messages and contexts are served, and the line holds (T9)', async () => {
    const object = new Compacting(hangs, () => async () => {
      throw new Error('poison')
    })
    await object.untilCompacting()
    for (let index = 0; index < 5; index++) {
      expect(await object.ring()).toBe(true)
      await object.with(({ session }) => session.history())
    }
    expect(await object.with(({ queue }) => queue.quarantined())).toMatchObject([
      { kind: COMPACT, attempts: 5 },
    ])
    expect(await object.alarm()).toBeNull()
    await object.die()
    expect((await object.turn()).place).toBe(0)
    expect(await object.alarm()).toBeNull()
  })

  const running = (isRunning: boolean) => ({
    compaction: {
      isRunning,
      run: async () => ({ status: 'none' as const }),
      settled: async () => {},
      subscribe: () => () => {},
    },
  })

  it('is each for its limits', async () => {
    const scheduled: unknown[] = []
    const queue = { schedule: async (...call: unknown[]) => void scheduled.push(call) }
    await scheduleCompaction(queue, running(true), 5, { limits: { window: { max: { rounds: 4 } } } })
    await scheduleCompaction(queue, running(true), 5)
    await scheduleCompaction(queue, running(false), 5)
    const limits = { window: { max: { rounds: 4 } } }
    expect(scheduled).toEqual([
      [COMPACT, 5, { key: JSON.stringify(limits), payload: limits }],
      [COMPACT, 5, {}],
    ])
    const asked: unknown[] = []
    const run = async (options: unknown) => {
      asked.push(options)
      return { status: 'none' as const }
    }
    const session = { compaction: { ...running(false).compaction, run } }
    const attempt = { key: '', attempt: 1, signal: webHost.timeout(1).signal }
    await compactionHandler(() => session)(limits, attempt)
    await compactionHandler(() => session)(undefined, attempt)
    await compactionHandler(() => undefined)(undefined, attempt)
    expect(asked).toEqual([{ limits }, {}])
  })
})

describe('a summary that asks no model', () => {
  it('is written before the answer, and costs no alarm', async () => {
    await changeSessions(({ memory, ...settings }) => ({ ...settings, memory: { ...memory, budget: 1_500 } }))
    const world = new World()
    await world.create()
    const scheduled = vi.spyOn(WorkQueue.prototype, 'schedule')
    let place = 0
    for (let at = 0; at < 60; at++) {
      const { receipt } = await world.context('trip', {
        messages: [said(`q${at}`, `${at}: ${ROUND}`), said(`a${at}`, `${at}: ${ROUND}`, 'assistant')],
      })
      place = receipt.summary?.place ?? 0
    }
    expect(place).toBeGreaterThan(1)
    expect(scheduled.mock.calls.map(([kind]) => kind)).not.toContain(COMPACT)
    scheduled.mockRestore()
  })

  it('is waited for no longer than it takes', async () => {
    const settled = vi.fn(() => new Promise<void>(() => {}))
    const compacting = (isRunning: boolean): Parameters<typeof writtenSoon>[0] => ({
      compaction: { isRunning, settled } as never,
    })
    await writtenSoon(compacting(false), webHost)
    expect(settled).not.toHaveBeenCalled()
    await writtenSoon(compacting(true), webHost)
    expect(settled).toHaveBeenCalledTimes(1)
  })
})

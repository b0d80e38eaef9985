import { env, evictDurableObject, runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test'
import { describe, expect, it } from 'vitest'
import { objectAlarms } from '../../../src/edge/work/alarms.ts'
import type { WorkFailure, WorkHandler, WorkQueueOptions } from '../../../src/edge/work/work.ts'
import { WorkQueue } from '../../../src/edge/work/work-queue.ts'
import { webHost } from '../../../src/platform/web.ts'
import { PlimsollError } from '../../../src/ports/errors.ts'
import { counted, inObject, newObject, TestClock } from './in-object.ts'

const SECOND = 1000
const HOUR = 3_600 * SECOND
/** The test runner logs every abort but those with this reason. */
const REASON = 'Instance dispose'

/**
 * An object with a work queue, which is made again in its constructor, as the edge's objects do it.
 */
class Working {
  readonly #id = newObject().id
  readonly clock = new TestClock()
  readonly done: string[] = []
  readonly failures: Omit<WorkFailure, 'error'>[] = []
  readonly #handlers: Record<string, WorkHandler>
  readonly #options: Partial<WorkQueueOptions>
  #queue: { readonly instance: unknown; readonly queue: WorkQueue } | undefined

  constructor(handlers: Record<string, WorkHandler>, options: Partial<WorkQueueOptions> = {}) {
    this.#handlers = handlers
    this.#options = options
  }

  /** A new one each time, since that of an object that was aborted is dead. */
  get stub(): DurableObjectStub {
    return env.SESSIONS.get(this.#id)
  }

  /** Runs something with its queue. */
  with<Result>(
    run: (
      queue: WorkQueue,
      storage: DurableObjectStorage,
      state: DurableObjectState,
    ) => Result | Promise<Result>,
  ): Promise<Result> {
    return runInDurableObject(this.stub, async (instance, state) => {
      if (this.#queue?.instance !== instance) {
        const queue = new WorkQueue({
          storage: state.storage,
          alarms: objectAlarms(state.storage),
          host: { ...webHost, now: this.clock.now },
          handlers: this.#handlers,
          onFailure: ({ error: _, ...failure }) => this.failures.push(failure),
          ...this.#options,
        })
        this.#queue = { instance, queue }
        Object.assign(instance, { alarm: () => queue.run() })
        await queue.ensureArmed()
      }
      return run(this.#queue.queue, state.storage, state)
    })
  }

  schedule(...call: Parameters<WorkQueue['schedule']>): Promise<void> {
    return this.with((queue) => queue.schedule(...call))
  }

  alarm(): Promise<number | null> {
    return this.with((_, storage) => storage.getAlarm())
  }

  /**
   * Moves the clock to the alarm, and runs it; undefined: none was set. @returns how far the clock
   * moved
   */
  async ring(): Promise<number | undefined> {
    const at = await this.alarm()
    if (at === null) return undefined
    const waited = Math.max(0, at - this.clock.at)
    this.clock.move(waited)
    await runDurableObjectAlarm(this.stub)
    return waited
  }

  /** Rings until no alarm is set; how long each was waited for. */
  async drain(): Promise<number[]> {
    const waits: number[] = []
    for (let wait = await this.ring(); wait !== undefined && waits.length < 50; wait = await this.ring())
      waits.push(wait)
    return waits
  }
}

const NOTHING: WorkHandler = async () => undefined

/** A handler that fails so many times, and says what it does. */
function failing(times: number, done: string[] = []): WorkHandler & { readonly done: string[] } {
  let left = times
  return Object.assign(
    async () => {
      if (left-- > 0) throw new TypeError('a secret')
      done.push('done')
      return undefined
    },
    { done },
  )
}

describe('work', () => {
  it('is done when it is due and not before, with its payload, and once', async () => {
    const seen: unknown[] = []
    const object = new Working({
      note: async (payload, { key, attempt }) => {
        seen.push([payload, key, attempt])
        return undefined
      },
    })
    await object.schedule('note', object.clock.at + HOUR, { key: 'a', payload: { deep: [1] } })
    await object.schedule('note', object.clock.at + 2 * HOUR, { key: 'b' })
    await object.with((queue) => queue.run())
    expect(seen).toEqual([])
    expect(await object.drain()).toEqual([HOUR, HOUR])
    expect(seen).toEqual([
      [{ deep: [1] }, 'a', 1],
      [undefined, 'b', 1],
    ])
    expect(await object.alarm()).toBeNull()
  })

  it('is one item for a kind and key: the earlier time and the later payload count', async () => {
    const seen: unknown[] = []
    const object = new Working({
      note: async (payload) => {
        seen.push(payload)
        return undefined
      },
    })
    const { at } = object.clock
    await object.schedule('note', at + HOUR, { payload: 1 })
    await object.schedule('note', at + 2 * HOUR, { payload: 2 })
    expect(await object.alarm()).toBe(at + HOUR)
    await object.schedule('note', at + SECOND, { payload: 3 })
    expect(await object.alarm()).toBe(at + SECOND)
    await object.drain()
    expect(seen).toEqual([3])
  })

  it('costs a row read and nothing written where it is noted already', async () => {
    await inObject(async (storage) => {
      const counting = counted(storage)
      const queue = new WorkQueue({
        storage: counting.storage,
        alarms: objectAlarms(storage),
        host: webHost,
        handlers: {},
      })
      const due = Date.UTC(2100, 0)
      await queue.schedule('note', due, { payload: { a: 1 } })
      counting.since()
      await queue.schedule('note', due + 1, { payload: { a: 1 } })
      expect(counting.since()).toEqual({ statements: 1, read: 1, written: 0 })
    })
  })

  it('is done again when its handler says so, a second later at the earliest', async () => {
    const waits = [HOUR, 0, -HOUR, undefined]
    const object = new Working({
      note: async () => {
        const wait = waits.shift()
        return wait === undefined ? undefined : object.clock.at + wait
      },
    })
    await object.schedule('note', object.clock.at)
    expect(await object.drain()).toEqual([0, HOUR, SECOND, SECOND])
  })

  it('that is asked for while it is being done is done once more, at the earlier time where its handler names one too', async () => {
    for (const wait of [undefined, HOUR]) {
      let calls = 0
      const object: Working = new Working({
        note: async () => {
          if (++calls > 1) return undefined
          await object.with((queue) => queue.schedule('note', object.clock.at))
          return wait === undefined ? undefined : object.clock.at + wait
        },
      })
      await object.schedule('note', object.clock.at)
      expect(await object.drain()).toEqual([0, 0])
      expect(calls).toBe(2)
    }
  })

  it('that is cancelled is not done, while it waits for its turn too; noted again in its own run it is', async () => {
    const done: string[] = []
    const object: Working = new Working({
      first: async () => {
        done.push('first')
        await object.with(async (queue) => {
          queue.cancel('second')
          if (done.length > 1) return
          queue.cancel('first')
          await queue.schedule('first', object.clock.at)
        })
        return undefined
      },
      second: async () => {
        done.push('second')
        return undefined
      },
      third: async () => {
        done.push('third')
        return undefined
      },
    })
    const { at } = object.clock
    await object.schedule('first', at)
    await object.schedule('second', at + 1)
    await object.schedule('third', at + 2)
    await object.with((queue) => queue.cancel('third'))
    object.clock.move(10)
    await object.drain()
    expect(done).toEqual(['first', 'first'])
  })

  it('of many items is done in runs of so many items or so long, whatever there is', async () => {
    const done: number[] = []
    const object = new Working(
      {
        note: async (payload) => {
          done.push(payload as number)
          if (payload === 5) object.clock.move(61 * SECOND)
          return undefined
        },
      },
      { maxItems: 4 },
    )
    const { at } = object.clock
    for (let index = 0; index < 10; index++)
      await object.schedule('note', at + index, { key: `${index}`, payload: index })
    object.clock.move(SECOND)
    const counts: number[] = []
    while ((await object.ring()) !== undefined) counts.push(done.length)
    expect(counts).toEqual([4, 6, 10])
    expect(done).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
  })

  it('of a kind that this version does not know waits for one that does, and is not quarantined', async () => {
    const object = new Working({ note: NOTHING })
    await object.schedule('unheard-of', object.clock.at)
    await object.schedule('note', object.clock.at)
    for (let index = 0; index < 8; index++) expect(await object.ring()).toBe(index === 0 ? 0 : HOUR)
    expect(await object.with((queue) => queue.quarantined())).toEqual([])
  })

  it('runs one at a time: a second run waits for the first', async () => {
    let active = 0
    let most = 0
    const object = new Working({
      note: async () => {
        most = Math.max(most, ++active)
        await new Promise((go) => setTimeout(go, 5))
        active--
        return undefined
      },
    })
    await object.schedule('note', object.clock.at, { key: 'a' })
    await object.schedule('note', object.clock.at, { key: 'b' })
    await object.with((queue) => Promise.all([queue.run(), queue.run()]))
    expect(most).toBe(1)
    expect(await object.alarm()).toBeNull()
  })

  it('of several sorts goes on beside one another: purges, attachments, and what keeps an object awake', async () => {
    const log: string[] = []
    let chatting = 3
    const object = new Working({
      'purge-chat': async () => {
        log.push('purge')
        return undefined
      },
      attachments: async () => {
        log.push('attachments')
        return log.filter((kind) => kind === 'attachments').length < 2
          ? object.clock.at + 24 * HOUR
          : undefined
      },
      'keep-awake': async () => {
        log.push('awake')
        return chatting-- > 0 ? object.clock.at + 30 * SECOND : undefined
      },
      poison: failing(Number.POSITIVE_INFINITY),
    })
    const { at } = object.clock
    await object.schedule('poison', at)
    await object.schedule('keep-awake', at)
    await object.schedule('purge-chat', at + HOUR)
    await object.schedule('attachments', at + 24 * HOUR)
    await object.drain()
    expect(log).toEqual(['awake', 'awake', 'awake', 'awake', 'purge', 'attachments', 'attachments'])
  })
})

describe('work that fails (T9)', () => {
  it('is tried again after 2, 4, 8 … seconds, until it works: once in effect', async () => {
    const work = failing(3)
    const object = new Working({ work })
    await object.schedule('work', object.clock.at)
    expect(await object.drain()).toEqual([0, 2, 4, 8].map((seconds) => seconds * SECOND))
    expect(work.done).toEqual(['done'])
    expect(object.failures).toEqual(
      [1, 2, 3].map((attempts) => ({ kind: 'work', key: '', attempts, isQuarantined: false })),
    )
  })

  it('is not done twice because it was asked for again before its next attempt', async () => {
    const work = failing(2)
    const object = new Working({ work })
    await object.schedule('work', object.clock.at)
    for (let index = 0; index < 2; index++) {
      await object.ring()
      await object.schedule('work', object.clock.at)
    }
    await object.drain()
    expect(work.done).toEqual(['done'])
  })

  it('is counted from the start after a success', async () => {
    let calls = 0
    const object = new Working({
      work: async () => {
        if (++calls % 5 !== 0) throw new Error('no')
        return calls < 20 ? object.clock.at + HOUR : undefined
      },
    })
    await object.schedule('work', object.clock.at)
    await object.drain()
    expect(calls).toBe(20)
    expect(await object.with((queue) => queue.quarantined())).toEqual([])
  })

  it('is quarantined after five attempts, its error by name only, while other work goes on and more of it is asked for', async () => {
    const other = failing(0)
    const object = new Working({ work: failing(Number.POSITIVE_INFINITY), other })
    await object.schedule('work', object.clock.at, { payload: 7 })
    for (let index = 0; index < 5; index++) {
      await object.ring()
      await object.schedule('other', object.clock.at)
      // Asking for it at every call does not take away its backoff.
      await object.schedule('work', object.clock.at, { payload: 7 })
    }
    await object.drain()
    expect(other.done.length).toBe(5)
    expect(object.failures.map(({ attempts }) => attempts)).toEqual([1, 2, 3, 4, 5])
    expect(object.failures.at(-1)?.isQuarantined).toBe(true)
    expect(await object.with((queue) => queue.quarantined())).toEqual([
      { kind: 'work', key: '', payload: 7, attempts: 5, at: expect.any(Number), error: 'TypeError' },
    ])
    await object.schedule('work', object.clock.at)
    expect(await object.alarm()).toBeNull()
  })

  it.each(['ERR_DECRYPT', 'ERR_NOT_CONFIGURED'] as const)(
    'since a secret is missing or another one (%s) is looked at again in an hour, however often',
    async (code) => {
      let left = 7
      const object = new Working({
        note: async () => {
          if (left-- > 0) throw new PlimsollError(code, 'the secret is another one')
          return undefined
        },
      })
      await object.schedule('note', object.clock.at)
      expect(await object.drain()).toEqual([0, ...Array.from({ length: 7 }, () => HOUR)])
      expect(object.failures).toHaveLength(7)
      expect(object.failures.every(({ isQuarantined }) => !isQuarantined)).toBe(true)
    },
  )

  it('is done when it is released from quarantine, at once', async () => {
    const work = failing(5)
    const object = new Working({ work })
    await object.schedule('work', object.clock.at)
    await object.drain()
    expect(work.done).toEqual([])
    expect(await object.with((queue) => queue.retry('work', 'another'))).toBe(false)
    expect(await object.with((queue) => queue.retry('work'))).toBe(true)
    expect(await object.with((queue) => queue.quarantined())).toEqual([])
    expect(await object.with((queue) => queue.retry('work'))).toBe(false)
    expect(await object.drain()).toEqual([0])
    expect(work.done).toEqual(['done'])
  })

  it('by never coming to an end counts as failed when its time is over, and its signal says so', async () => {
    const signals: boolean[] = []
    const object = new Working(
      {
        work: (_, { signal }) =>
          new Promise(() => signal.addEventListener('abort', () => void signals.push(signal.aborted))),
        other: NOTHING,
      },
      { timeoutMs: 5, maxAttempts: 2 },
    )
    await object.schedule('work', object.clock.at)
    await object.schedule('other', object.clock.at + 1)
    await object.drain()
    expect(signals).toEqual([true, true])
    expect(await object.with((queue) => queue.quarantined())).toMatchObject([
      { kind: 'work', error: 'ERR_TIMEOUT' },
    ])
  })

  it('is not held up by an observer that throws', async () => {
    const work = failing(2)
    const object = new Working(
      { work },
      {
        onFailure: () => {
          throw new Error('observer')
        },
      },
    )
    await object.schedule('work', object.clock.at)
    await object.drain()
    expect(work.done).toEqual(['done'])
  })

  it('by taking the object down is tried five times and no more, and other work is done', async () => {
    let attempts = 0
    let state: DurableObjectState | undefined
    const object = new Working({
      work: async () => {
        attempts++
        state?.abort(REASON)
        return new Promise(() => {})
      },
      other: NOTHING,
    })
    await object.schedule('work', object.clock.at)
    for (let index = 0; index < 8; index++) {
      await object.with((_, __, current) => {
        state = current
      })
      await object.ring().catch((error: Error) => expect(error.message).toContain(REASON))
      if (attempts < 5) expect(await object.alarm(), 'an alarm is left').not.toBeNull()
    }
    expect(attempts).toBe(5)
    await object.drain()
    expect(await object.with((queue) => queue.quarantined())).toMatchObject([
      { kind: 'work', attempts: 5, error: 'ERR_INTERRUPTED' },
    ])
  })
})

describe('the alarm', () => {
  it('is set for what comes after an attempt before that begins, and that is on disk', async () => {
    const log: unknown[] = []
    await inObject(async (storage) => {
      const { now, at } = new TestClock()
      const queue = new WorkQueue({
        storage,
        alarms: {
          ...objectAlarms(storage),
          flush: async () => {
            await storage.sync()
            log.push('on disk')
          },
        },
        host: { ...webHost, now },
        handlers: {
          work: async () => {
            log.push(((await storage.getAlarm()) ?? 0) - at)
            return undefined
          },
        },
      })
      await queue.schedule('work', at)
      await storage.deleteAlarm()
      await queue.run()
    })
    expect(log).toEqual(['on disk', 2 * SECOND])
  })

  it('that was lost with work pending is set when the object is made again, and the work ends (T10)', async () => {
    const work = failing(0)
    const object = new Working({ work })
    await object.schedule('work', object.clock.at + HOUR)
    await object.with((_, storage) => storage.deleteAlarm())
    expect(await object.alarm()).toBeNull()
    await evictDurableObject(object.stub)
    expect(await object.alarm()).toBe(object.clock.at + HOUR)
    await object.drain()
    expect(work.done).toEqual(['done'])
  })

  it('that is set for later than the work is set again; an earlier one stays', async () => {
    const object = new Working({ work: NOTHING })
    const { at } = object.clock
    await object.schedule('work', at + HOUR)
    for (const [set, expected] of [
      [at + 2 * HOUR, at + HOUR],
      [at + SECOND, at + SECOND],
    ] as const) {
      await object.with((_, storage) => storage.setAlarm(set))
      await evictDurableObject(object.stub)
      expect(await object.alarm()).toBe(expected)
    }
  })

  it('is neither asked for nor set where there is no work, and nothing is written', async () => {
    await inObject(async (storage) => {
      const counting = counted(storage)
      let asked = 0
      const alarms = {
        get: async () => {
          asked++
          return null
        },
        set: async () => {
          asked++
        },
        delete: async () => {},
      }
      const queue = new WorkQueue({ storage: counting.storage, alarms, host: webHost, handlers: {} })
      await queue.ensureArmed()
      expect(asked).toBe(0)
      expect(queue.quarantined()).toEqual([])
      expect(await queue.retry('work')).toBe(false)
      queue.cancel('work')
      await queue.run()
      expect(storage.sql.exec('SELECT name FROM sqlite_master').toArray()).toEqual([])
    })
  })

  it('is looked after at construction with as few rows read from 2 000 items as from one (T13)', async () => {
    const cost = (items: number) =>
      inObject(async (storage) => {
        const counting = counted(storage)
        const queue = () =>
          new WorkQueue({
            storage: counting.storage,
            alarms: objectAlarms(storage),
            host: webHost,
            handlers: {},
          })
        const filled = queue()
        for (let index = 0; index < items; index++)
          await filled.schedule('note', Date.UTC(2100, 0) + index, { key: `${index}` })
        counting.since()
        await queue().ensureArmed()
        return counting.since()
      })
    const few = await cost(1)
    expect(await cost(2_000)).toEqual(few)
    expect(few).toMatchObject({ written: 0 })
    expect(few.read).toBeLessThanOrEqual(2)
  })

  it('of work that is undone with its transaction finds nothing to do', async () => {
    const work = failing(0)
    const object = new Working({ work })
    await object.with((queue, storage) => {
      expect(() =>
        storage.transactionSync(() => {
          void queue.schedule('work', object.clock.at)
          throw new Error('undone')
        }),
      ).toThrow('undone')
    })
    await object.drain()
    expect(work.done).toEqual([])
    await object.schedule('work', object.clock.at)
    await object.drain()
    expect(work.done).toEqual(['done'])
  })
})

describe('an alarm without work', () => {
  it('is set without a row, once for all who want it by then, and is not put off by what is due later', async () => {
    const working = new Working({ later: async () => undefined })
    const { clock } = working
    const wake = (at: number): Promise<void> => working.with((queue) => queue.wake(at))
    const begun = clock.at
    await wake(begun + 30 * SECOND)
    expect(await working.alarm()).toBe(begun + 30 * SECOND)
    await wake(begun + 40 * SECOND)
    expect(await working.alarm()).toBe(begun + 30 * SECOND)
    await working.schedule('later', begun + HOUR)
    expect(await working.alarm()).toBe(begun + 30 * SECOND)
    await working.schedule('later', begun + 10 * SECOND)
    expect(await working.alarm()).toBe(begun + 10 * SECOND)
    clock.at = begun + 10 * SECOND
    await working.with((queue) => queue.run())
    expect(await working.alarm()).toBe(begun + 30 * SECOND)
    await working.schedule('later', begun + HOUR)
    clock.at = begun + 30 * SECOND
    await working.with((queue) => queue.run())
    expect(await working.alarm()).toBe(begun + HOUR)
    // One that comes before it is enough.
    await wake(begun + 2 * HOUR)
    expect(await working.alarm()).toBe(begun + HOUR)
    clock.at = begun + HOUR
    await working.with((queue) => queue.run())
    expect(await working.alarm()).toBe(begun + 2 * HOUR)
    clock.at = begun + 2 * HOUR
    await working.with((queue) => queue.run())
    expect(await working.alarm()).toBeNull()
  })
})

import { describe, expect, it } from 'vitest'
import { Answers, KEEP_ANSWER_MS, type KeptAnswer } from '../../../src/edge/rows/answers.ts'
import { NO_SEAL } from '../../../src/edge/rows/object-seal.ts'
import { type ErrorCode, PlimsollError } from '../../../src/index.ts'
import { inObject, TestClock } from './in-object.ts'

const one = { key: 'k', request: 'one' }
const two = { key: 'k', request: 'two' }
const CONFLICT = { code: 'ERR_CONFLICT' }

/** Answers in an object of their own, and how often something ran. */
function inAnswers(
  test: (given: {
    readonly answers: Answers
    readonly clock: TestClock
    readonly rows: () => readonly Record<string, SqlStorageValue>[]
    readonly due: readonly number[]
    readonly leave: () => void
  }) => Promise<void>,
): Promise<void> {
  return inObject(async (storage) => {
    const clock = new TestClock()
    const due: number[] = []
    let isThere = true
    const answers = new Answers({
      storage,
      now: clock.now,
      newKey: () => undefined,
      open: () => NO_SEAL,
      isThere: () => isThere,
      schedule: async (time) => void due.push(time),
    })
    await test({
      answers,
      clock,
      due,
      rows: () => storage.sql.exec('SELECT * FROM plimsoll_edge_answer').toArray(),
      leave: () => {
        isThere = false
      },
    })
  })
}

const saying =
  (json: string) =>
  async (opId: () => string | undefined): Promise<KeptAnswer> => {
    opId()
    return { json }
  }
const failing = (code: ErrorCode) => async (): Promise<KeptAnswer> => {
  throw new PlimsollError(code, 'it failed')
}

/** Rejects, however it throws. */
const asked = async (run: () => Promise<unknown>): Promise<unknown> => run()

describe('what an object answered under a key', () => {
  it('is another op for another key or request, and the same for the same', () =>
    inAnswers(async ({ answers }) => {
      const names: (string | undefined)[] = []
      for (const keyed of [one, { key: 'other', request: 'one' }, { key: 'third', request: 'two' }])
        await answers.once(keyed, async (opId) => {
          names.push(opId())
          return { json: '1' }
        })
      answers.forget()
      await answers.once(one, async (opId) => {
        names.push(opId())
        return { json: '1' }
      })
      expect(new Set(names.slice(0, 3)).size).toBe(3)
      expect(names[3]).toBe(names[0])
    }))

  it('is not kept where something was forgotten meanwhile, but for what holds nothing that was said', () =>
    inAnswers(async ({ answers, rows }) => {
      await answers.once(one, async () => {
        answers.forget()
        return { json: 'said' }
      })
      expect(rows()).toMatchObject([{ answer: null }])
      await expect(asked(() => answers.once(two, saying('2')))).rejects.toMatchObject(CONFLICT)
      const lasting = { key: 'f', request: 'f' }
      await answers.once(
        lasting,
        async () => {
          answers.forget()
          return { json: 'certificate' }
        },
        { isLasting: true },
      )
      expect(rows()).toMatchObject([{ answer: '{"json":"certificate"}' }])
    }))

  it.each(['ERR_STORAGE', 'ERR_INTERNAL', 'ERR_MODEL', 'ERR_TIMEOUT'] as const)(
    'stands for a request of which it is not known what became of it: %s',
    (code) =>
      inAnswers(async ({ answers }) => {
        await expect(answers.once(one, failing(code))).rejects.toMatchObject({ code })
        await expect(asked(() => answers.once(two, saying('2')))).rejects.toMatchObject(CONFLICT)
        expect(await answers.once(one, saying('1'))).toEqual({ json: '1' })
      }),
  )

  it.each(['ERR_NOT_FOUND', 'ERR_RATE_LIMIT', 'ERR_STORAGE_FULL', 'ERR_CONFLICT'] as const)(
    'is nothing where the request was refused: %s',
    (code) =>
      inAnswers(async ({ answers }) => {
        await expect(answers.once(one, failing(code))).rejects.toMatchObject({ code })
        expect(await answers.once(two, saying('2'))).toEqual({ json: '2' })
      }),
  )

  it('stands for what was refused after something was written', () =>
    inAnswers(async ({ answers }) => {
      const written = { isWritten: () => true }
      await expect(answers.once(one, failing('ERR_TOOL_PENDING'), written)).rejects.toThrow()
      await expect(asked(() => answers.once(two, saying('2')))).rejects.toMatchObject(CONFLICT)
    }))

  it('runs once where two come at once, and refuses another request meanwhile', () =>
    inAnswers(async ({ answers }) => {
      let runs = 0
      const run = async (): Promise<KeptAnswer> => {
        runs++
        await scheduler.wait(1)
        return { json: `${runs}` }
      }
      const both = [answers.once(one, run), answers.once(one, run)]
      await expect(asked(() => answers.once(two, run))).rejects.toMatchObject(CONFLICT)
      await expect(answers.claim(two)).rejects.toMatchObject(CONFLICT)
      expect(await Promise.all(both)).toEqual([{ json: '1' }, { json: '1' }])
    }))

  it('is not written where what it belongs to is gone', () =>
    inAnswers(async ({ answers, rows, leave }) => {
      await answers.once({ key: 'before', request: 'x' }, saying('1'))
      leave()
      await answers.once(one, saying('1'))
      expect(rows()).toHaveLength(1)
    }))

  it('is claimed before a stream begins, and free again where that was refused', () =>
    inAnswers(async ({ answers }) => {
      const { opId, refused } = await answers.claim(one)
      expect((await answers.claim(one)).opId).toBe(opId)
      await expect(answers.claim(two)).rejects.toMatchObject(CONFLICT)
      expect(() => answers.check(two)).toThrow('Idempotency-Key')
      refused(new PlimsollError('ERR_MODEL', 'the model failed'))
      await expect(answers.claim(two)).rejects.toMatchObject(CONFLICT)
      // Who joined does not take it back.
      ;(await answers.claim(one)).refused(new PlimsollError('ERR_NOT_FOUND', 'gone'))
      await expect(answers.claim(two)).rejects.toMatchObject(CONFLICT)
      refused(new PlimsollError('ERR_NOT_FOUND', 'gone'))
      expect((await answers.claim(two)).opId).not.toBe(opId)
    }))

  it('is removed after a day, by what was asked for when it was kept', () =>
    inAnswers(async ({ answers, clock, rows, due }) => {
      expect(answers.purge()).toBeUndefined()
      await answers.once(one, saying('1'))
      expect(due).toEqual([clock.at + KEEP_ANSWER_MS])
      clock.move(KEEP_ANSWER_MS - 1)
      await answers.once({ key: 'later', request: 'x' }, saying('1'))
      expect(answers.purge()).toBe(clock.at + 3_600_000)
      clock.move(1)
      expect(answers.purge()).toBe(clock.at - 1 + KEEP_ANSWER_MS)
      expect(rows()).toHaveLength(1)
      answers.clear()
      expect(answers.purge()).toBeUndefined()
    }))
})

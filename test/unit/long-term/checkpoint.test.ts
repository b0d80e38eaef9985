import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  type Host,
  type Json,
  mapStore,
  type StandardResult,
  type StandardSchema,
  type Store,
} from '../../../src/index.ts'
import { once } from '../../../src/kernel/log/once.ts'
import { sealOp } from '../../../src/kernel/log/seal.ts'
import { deleteSession } from '../../../src/operations/delete-session.ts'
import { listSessions } from '../../../src/operations/sessions.ts'
import { webHost } from '../../../src/platform/web.ts'
import { type FullMemoryOptions, type FullSession, memoryWith } from '../../contract/full-memory.ts'
import { changedStore } from '../../everywhere/changed-store.ts'
import { runs } from '../support/runs.ts'

interface Progress {
  readonly done: readonly string[]
  readonly note?: string
}

const setUp = <State = unknown>(
  checkpoint?: FullMemoryOptions<State>['checkpoint'],
  store: Store = mapStore(),
): FullSession<State> =>
  memoryWith<State>(['checkpoint'], { store, budget: 16_000, ...(checkpoint && { checkpoint }) }).session({
    userId: 'ada',
  })

/**
 * A store in which somebody else writes the checkpoint first, so often, and a host without waits.
 */
function contended(times: number) {
  const inner = mapStore()
  const waits: number[] = []
  let written = 0
  const host: Host = {
    ...webHost,
    timeout: (ms) => {
      waits.push(ms)
      return webHost.timeout(0)
    },
  }
  const rival = (): string => `rival-${written}`
  const store = changedStore(inner, (scope) => ({
    commit: async (ops, decide) => {
      if (written < times && ops.some(({ envelope }) => envelope.key === 'checkpoint')) {
        const base = (await scope.register('checkpoint'))?.version ?? null
        written++
        const put = { kind: 'put', opId: rival(), key: 'checkpoint', base, value: written } as const
        await scope.commit([sealOp(put)], once)
      }
      return scope.commit(ops, decide)
    },
  }))
  return { store, host, waits, rival }
}

/**
 * As a library of schemas would make it: `done` must be a list of texts; a missing one is filled
 * in.
 */
const schema: StandardSchema<unknown, Progress> = {
  '~standard': {
    version: 1,
    vendor: 'test',
    validate: async (value): Promise<StandardResult<Progress>> => {
      const { done = [], note } = value as { done?: unknown; note?: string }
      if (!Array.isArray(done)) return { issues: [{ message: 'Expected a list', path: ['done'] }] }
      const wrong = done.findIndex((one) => typeof one !== 'string')
      if (wrong >= 0)
        return {
          issues: [{ message: 'Expected a text', path: [{ key: 'done' }, wrong] }, { message: 'Wrong' }],
        }
      return { value: { done, ...(note !== undefined && { note }) } }
    },
  },
}

describe('a checkpoint', () => {
  it('gives back any JSON that was kept', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.jsonValue({ maxDepth: 8, stringUnit: 'grapheme' }).filter((value) => value !== null),
        async (value) => {
          const store = mapStore()
          const version = await setUp(undefined, store).checkpoint.set(value)
          const read = await setUp(undefined, store).checkpoint.get()
          expect(JSON.stringify(read)).toBe(JSON.stringify({ value, version }))
        },
      ),
      runs(100),
    )
  })

  it('is the default where nothing is kept: that of the call, else that of the memory, else undefined', async () => {
    const { checkpoint } = setUp<Progress>({ initial: { done: ['a'] } })
    expect(await checkpoint.get()).toEqual({ value: { done: ['a'] }, version: null })
    expect(await checkpoint.get({ default: { done: [] } })).toEqual({ value: { done: [] }, version: null })
    expect(await setUp().checkpoint.get()).toEqual({ value: undefined, version: null })
    const made = setUp<Progress>({ initial: () => ({ done: ['made'] }) }).checkpoint
    expect(await made.get()).toEqual({ value: { done: ['made'] }, version: null })
    expect((await made.get({ default: () => ({ done: [] }) })).value).toEqual({ done: [] })
    const version = await checkpoint.set({ done: ['kept'] })
    expect(await checkpoint.get({ default: { done: [] } })).toEqual({ value: { done: ['kept'] }, version })
    await checkpoint.delete()
    await checkpoint.delete()
    expect((await checkpoint.get()).version).toBe(null)
  })

  it('that is set or updated to null is kept no more', async () => {
    const store = mapStore()
    const { checkpoint } = setUp<number>({ initial: 0 }, store)
    const version = await checkpoint.set(1)
    expect(await checkpoint.set(null, { ifVersion: version })).toBeNull()
    expect(await checkpoint.get()).toEqual({ value: 0, version: null })
    expect(await checkpoint.set(null)).toBeNull()
    await checkpoint.set(2, { ifVersion: null })
    expect(await checkpoint.update((count) => (count === 2 ? null : count))).toBeNull()
    expect(await checkpoint.get()).toEqual({ value: 0, version: null })
    await expect(checkpoint.set(null, { ifVersion: 'older' })).rejects.toMatchObject({ code: 'ERR_CONFLICT' })
  })

  it('that never was is no reason to list a session', async () => {
    const store = mapStore()
    const memory = memoryWith(['checkpoint'], { store, budget: 16_000 })
    await memory.session({ userId: 'ada', sessionId: 'a' }).checkpoint.set(null)
    expect(await listSessions(memory, { userId: 'ada' })).toEqual([])
  })

  it('hands out a new copy of its default each time', async () => {
    const { checkpoint } = setUp<{ done: string[] }>({ initial: { done: [] } })
    const { value } = await checkpoint.get()
    value?.done.push('changed')
    expect((await checkpoint.get()).value).toEqual({ done: [] })
  })

  it('changes by compare-and-set', async () => {
    const { checkpoint } = setUp()
    const first = await checkpoint.set(1, { ifVersion: null })
    const refused = { code: 'ERR_CONFLICT', version: first }
    await expect(checkpoint.set(2, { ifVersion: null })).rejects.toMatchObject(refused)
    await expect(checkpoint.delete({ ifVersion: 'older' })).rejects.toMatchObject(refused)
    const second = await checkpoint.set(2, { ifVersion: first, opId: 'mine' })
    expect(await checkpoint.set(2, { ifVersion: first, opId: 'mine' })).toBe(second)
    expect(await checkpoint.get()).toEqual({ value: 2, version: second })
  })

  it('loses no update of several writers at once, though their functions are slow or change in place', async () => {
    const store = mapStore()
    const write = async (writer: string): Promise<void> => {
      const { checkpoint } = setUp<{ done: string[] }>(undefined, store)
      for (let index = 0; index < 4; index++) {
        const add = (state: { done: string[] }) => {
          state.done.push(`${writer}${index}`)
          return index % 2 === 0 ? state : Promise.resolve(state)
        }
        await checkpoint.update(add, { default: { done: [] } })
      }
    }
    await Promise.all(['a', 'b', 'c'].map(write))
    const { value } = await setUp<Progress>(undefined, store).checkpoint.get()
    expect([...(value?.done ?? [])].sort()).toEqual(
      ['a', 'b', 'c'].flatMap((writer) => [0, 1, 2, 3].map((index) => `${writer}${index}`)),
    )
  })

  it.each([1, 2, 50])('loses none of 100 updates that begin at once on %i handles', async (handles) => {
    const store = mapStore()
    const opened = Array.from({ length: handles }, () => setUp<number[]>({ initial: [] }, store))
    const all = Array.from({ length: 100 }, (_, index) => index)
    await Promise.all(
      all.map((index) => opened[index % handles]?.checkpoint.update(async (done) => [...done, index])),
    )
    const { value } = await setUp<number[]>(undefined, store).checkpoint.get()
    expect([...value].sort((one, other) => one - other)).toEqual(all)
  })

  it('waits longer and longer while others change it, and is refused after 5 seconds of that', async () => {
    const { store, host, waits, rival } = contended(Number.POSITIVE_INFINITY)
    const { checkpoint } = memoryWith<number>(['checkpoint'], { store, host, budget: 16_000 }).session({
      userId: 'ada',
    })
    let asked = 0
    const late = checkpoint.update(() => ++asked)
    const refused = await late.catch((error: unknown) => error)
    expect(refused).toMatchObject({ code: 'ERR_CONFLICT', id: 'checkpoint', version: rival() })
    const total = waits.reduce((sum, ms) => sum + ms, 0)
    expect(total).toBeGreaterThanOrEqual(5_000)
    expect(total).toBeLessThan(5_300)
    expect(asked).toBe(waits.length + 1)
    expect(waits.every((ms, attempt) => ms >= 0 && ms <= Math.min(256, 2 ** attempt * 2))).toBe(true)
    // Those that failed together come back apart.
    expect(new Set(waits.slice(8)).size).toBeGreaterThan(8)
  })

  it('lands once others leave it alone, its function called again each time', async () => {
    const { store, host, waits } = contended(20)
    const { checkpoint } = memoryWith<number>(['checkpoint'], { store, host, budget: 16_000 }).session({
      userId: 'ada',
    })
    const seen: unknown[] = []
    await checkpoint.update((before) => {
      seen.push(before)
      return 100
    })
    expect(seen).toHaveLength(21)
    expect(new Set(seen).size).toBe(21)
    expect(waits).toHaveLength(20)
    expect((await checkpoint.get()).value).toBe(100)
  })

  it('is kept by `set` too, whatever others write, and `set` refuses at once what names a version', async () => {
    const { store, host, waits } = contended(20)
    const { checkpoint } = memoryWith<number>(['checkpoint'], { store, host, budget: 16_000 }).session({
      userId: 'ada',
    })
    await checkpoint.set(-1)
    expect(waits).toHaveLength(20)
    await expect(checkpoint.set(-2, { ifVersion: 'older' })).rejects.toMatchObject({ code: 'ERR_CONFLICT' })
    expect(waits).toHaveLength(20)
  })

  it('updates from the memory’s default, and from undefined where there is none', async () => {
    const { checkpoint } = setUp<number>({ initial: 40 })
    await checkpoint.update((count) => (count ?? 0) + 2)
    expect((await checkpoint.get()).value).toBe(42)
    const bare = setUp<string>().checkpoint
    await bare.update((before) => `${before}`)
    expect((await bare.get()).value).toBe('undefined')
    const repeated = { opId: 'mine' }
    await checkpoint.update((count = 0) => count + 1, repeated)
    await checkpoint.update((count = 0) => count + 1, repeated)
    expect((await checkpoint.get()).value).toBe(43)
  })

  it('keeps 32 KiB and 32 levels, and refuses more before anything is written', async () => {
    const { checkpoint } = setUp()
    const most = 'é'.repeat(16 * 1024 - 1)
    await checkpoint.set(most)
    await expect(checkpoint.set(`${most}.`)).rejects.toMatchObject({
      code: 'ERR_ENTRY_TOO_LARGE',
      size: 32 * 1024 + 1,
      limit: 32 * 1024,
    })
    const nested = (levels: number): Json => (levels === 0 ? 1 : [nested(levels - 1)])
    await checkpoint.set(nested(32))
    const invalid = { code: 'ERR_INVALID_ARGUMENT', argument: 'checkpoint' }
    for (const value of [nested(33), undefined, () => 1, Number.NaN, new Date(0), 7n, '\ud800'])
      await expect(checkpoint.set(value)).rejects.toMatchObject(invalid)
    await expect(checkpoint.set({ when: new Map() })).rejects.toMatchObject({ argument: 'checkpoint.when' })
    await expect(checkpoint.update(() => undefined)).rejects.toMatchObject(invalid)
    expect((await checkpoint.get()).value).toEqual(nested(32))
  })

  it('keeps hostile keys as they are', async () => {
    const { checkpoint } = setUp()
    const text = '{"__proto__":{"isAdmin":true},"constructor":1,"":2,"\\u0000":3}'
    await checkpoint.set(JSON.parse(text))
    const { value } = await checkpoint.get()
    expect(JSON.stringify(value)).toBe(text)
    expect((value as { isAdmin?: boolean }).isAdmin).toBe(undefined)
  })

  it('belongs to one session, and lists it', async () => {
    const store = mapStore()
    const memory = memoryWith(['checkpoint'], { store, budget: 16_000 })
    await memory.session({ userId: 'ada', sessionId: 'one' }).checkpoint.set(1)
    expect((await memory.session({ userId: 'ada', sessionId: 'other' }).checkpoint.get()).value).toBe(
      undefined,
    )
    expect(await listSessions(memory, { userId: 'ada' })).toMatchObject([{ sessionId: 'one' }])
    await deleteSession(memory, { userId: 'ada' }, 'one')
    expect((await memory.session({ userId: 'ada', sessionId: 'one' }).checkpoint.get()).value).toBe(undefined)
  })
})

describe('a checkpoint with a schema', () => {
  it('is checked before anything is written, and the error names the path', async () => {
    const { checkpoint } = setUp({ schema })
    await checkpoint.set({ done: ['a'] })
    const wrong = { done: ['a', 7] } as unknown as Progress
    const refused = { code: 'ERR_INVALID_ARGUMENT', argument: 'checkpoint.done[1]' }
    await expect(checkpoint.set(wrong)).rejects.toMatchObject(refused)
    await expect(checkpoint.update(() => wrong)).rejects.toMatchObject(refused)
    expect((await checkpoint.get()).value).toEqual({ done: ['a'] })
  })

  it('keeps what the schema makes of a value', async () => {
    const store = mapStore()
    await setUp({ schema }, store).checkpoint.set({} as Progress)
    expect((await setUp(undefined, store).checkpoint.get()).value).toEqual({ done: [] })
  })

  it('refuses what the schema makes, where that cannot be kept', async () => {
    const making = (value: unknown): StandardSchema<unknown, unknown> => ({
      '~standard': { version: 1, vendor: 'test', validate: () => ({ value }) },
    })
    await expect(setUp({ schema: making(new Date(0)) }).checkpoint.set(1)).rejects.toMatchObject({
      code: 'ERR_INVALID_ARGUMENT',
      argument: 'checkpoint',
    })
    await expect(setUp({ schema: making('x'.repeat(40_000)) }).checkpoint.set(1)).rejects.toMatchObject({
      code: 'ERR_ENTRY_TOO_LARGE',
    })
  })

  it('says so when what is kept does not fit any more, and can be replaced', async () => {
    const store = mapStore()
    await setUp(undefined, store).checkpoint.set({ done: 3 })
    const { checkpoint } = setUp({ schema }, store)
    const refused = { code: 'ERR_INVALID_ARGUMENT', argument: 'checkpoint.done' }
    await expect(checkpoint.get()).rejects.toMatchObject(refused)
    await expect(checkpoint.get({ default: { done: [] } })).rejects.toThrow('older version of the app')
    await expect(checkpoint.update((state) => state ?? { done: [] })).rejects.toMatchObject(refused)
    await checkpoint.set({ done: [] })
    expect((await checkpoint.get()).value).toEqual({ done: [] })
  })

  it('takes nothing else for a schema', () => {
    for (const wrong of [null, {}, { '~standard': {} }, () => true])
      expect(() => setUp({ schema: wrong as never })).toThrow('checkpoint: schema must be a Standard Schema')
    expect(() =>
      memoryWith(['checkpoint'], { store: mapStore(), budget: 1_000, checkpoint: 7 as never }),
    ).toThrow('checkpoint: options must be an object')
  })
})

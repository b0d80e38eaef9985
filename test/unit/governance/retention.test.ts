import { describe, expect, it } from 'vitest'
import { lawChecker } from '../../../src/assert-laws.ts'
import { charsPerToken, mapStore, type RetentionOptions, type Store } from '../../../src/index.ts'
import { decide } from '../../../src/kernel/log/decide.ts'
import { sealOp } from '../../../src/kernel/log/seal.ts'
import { readAudit } from '../../../src/operations/audit.ts'
import { nextWorkAt, runDueWork } from '../../../src/operations/upkeep.ts'
import type { SealedOp } from '../../../src/ports/op.ts'
import {
  type FullMemory,
  type FullMemoryOptions,
  type FullSession,
  memoryWith,
} from '../../contract/full-memory.ts'
import { changedStore } from '../../everywhere/changed-store.ts'
import { CANARY, readEverything } from '../../everywhere/governance.ts'
import { size } from '../../everywhere/runs.ts'

const DAY = 86_400_000
const ADA = { userId: 'ada' }
const TRIP = { ...ADA, sessionId: 'trip' }

interface Time {
  now: number
}

function open(
  retention: RetentionOptions | undefined,
  store: Store = mapStore(),
  time: Time = { now: 1_000 * DAY },
  options: Partial<FullMemoryOptions> = {},
) {
  const memory = memoryWith(['facts', 'checkpoint', 'retention'], {
    store,
    budget: 2_000,
    counter: charsPerToken(4),
    laws: lawChecker,
    clock: () => time.now,
    retention,
    ...options,
  })
  return { memory, session: memory.session(TRIP), store, time }
}

/** Calls it until nothing is due. @returns how often */
async function runAll(memory: FullMemory, time: Time): Promise<number> {
  for (let calls = 1; ; calls++) {
    const next = await runDueWork(memory)
    if (next === undefined || next > time.now) return calls
    if (calls > 1_000) throw new Error('it never ends')
  }
}

/**
 * What was done to the log and the registers: reads, the rows that they gave, commits, their ops.
 */
const NOTHING = { reads: 0, rows: 0, commits: 0, ops: 0 }
type Counts = typeof NOTHING

/** Retention of which each call is counted. */
function counting(retention: RetentionOptions, store: Store, time?: Time) {
  let counts = NOTHING
  const did = (more: Partial<Counts>): void => {
    counts = combined(counts, { ...NOTHING, ...more }, (one, other) => one + other)
  }
  const read = async <Result>(
    asked: Promise<Result>,
    rowsOf: (result: Result) => number,
  ): Promise<Result> => {
    const result = await asked
    did({ reads: 1, rows: rowsOf(result) })
    return result
  }
  const counted = changedStore(store, (inner) => ({
    commit: (ops, decide) => {
      did({ commits: 1, ops: ops.length })
      return inner.commit(ops, decide)
    },
    entries: (query) => read(inner.entries(query), ({ rows }) => rows.length),
    changesSince: (seq) => read(inner.changesSince(seq), ({ rows }) => rows.length),
    register: (key) => read(inner.register(key), (row) => (row ? 1 : 0)),
    registers: (prefix, after) => read(inner.registers(prefix, after), (rows) => rows.length),
    indexed: (group, query) => read(inner.indexed(group, query), (rows) => rows.length),
  }))
  const opened = open(retention, counted, time)
  /** Calls it until nothing is due: the most that one call did, and all that they did. */
  const run = async (): Promise<{
    readonly most: Counts
    readonly total: Counts
    readonly calls: number
  }> => {
    let [most, total] = [NOTHING, NOTHING]
    for (let calls = 1; ; calls++) {
      counts = NOTHING
      const next = await runDueWork(opened.memory)
      most = combined(most, counts, Math.max)
      total = combined(total, counts, (one, other) => one + other)
      if (next === undefined || next > opened.time.now) return { most, total, calls }
    }
  }
  return { ...opened, run }
}

function combined(one: Counts, other: Counts, combine: (a: number, b: number) => number): Counts {
  return {
    reads: combine(one.reads, other.reads),
    rows: combine(one.rows, other.rows),
    commits: combine(one.commits, other.commits),
    ops: combine(one.ops, other.ops),
  }
}

const say = (session: FullSession, id: string, content = `Question ${id}.`) =>
  session.append([
    { id, role: 'user', content },
    { id: `${id}-answer`, role: 'assistant', content: `Answer to ${id}.` },
  ])

/** A question and its answer. */
function roundOf(id: string, createdAt: number): SealedOp {
  const message = { content: 'Again.', createdAt }
  return sealOp({
    kind: 'append',
    opId: `op-${id}`,
    round: id,
    messages: [
      { ...message, id, role: 'user', trust: 'user' },
      { ...message, id: `${id}-answer`, role: 'assistant', trust: 'assistant' },
    ],
  })
}

const idsIn = async (session: FullSession): Promise<readonly string[]> =>
  (await session.history({ messages: 500 })).map(({ id }) => id)

describe('retention of the log', () => {
  it('forgets rounds once their newest message is so old, with all that derives from them', async () => {
    const { memory, session, store, time } = open({ log: { days: 30 } }, undefined, undefined, {
      compaction: { ahead: false },
      recall: {},
    })
    await say(session, 'old', `The code is ${CANARY}.`)
    await session.facts.remember({ kind: 'preference', text: `Likes ${CANARY}.`, sources: ['old'] })
    for (let round = 0; round < 100; round++) await say(session, `filler-${round}`)
    await session.context()
    time.now += 30 * DAY
    await say(session, 'new')
    await session.context()
    expect(await readEverything(store)).toContain(CANARY)
    await runAll(memory, time)
    expect(await readEverything(store)).not.toContain(CANARY)
    expect(await idsIn(session)).toEqual(['new', 'new-answer'])
    expect(JSON.stringify(await session.context())).not.toContain('filler-7.')
    expect(await readAudit(memory, ADA)).toMatchObject([
      { action: 'forget', target: 'trip', by: 'retention', counts: { messages: 202, facts: 1 } },
    ])
  })

  it('takes nothing a millisecond early, and all of it on time', async () => {
    const { memory, session, time } = open({ log: { days: 1 } })
    await say(session, 'old')
    await say(session, 'new')
    time.now += DAY - 1
    await runAll(memory, time)
    expect(await idsIn(session)).toEqual(['old', 'old-answer', 'new', 'new-answer'])
    time.now += 1
    await runAll(memory, time)
    expect(await idsIn(session)).toEqual(['new', 'new-answer'])
  })

  it('never takes the newest round, and takes it once another one follows', async () => {
    const { memory, session, time } = open({ log: { days: 1 } })
    await say(session, 'only')
    time.now += 100 * DAY
    await runAll(memory, time)
    expect(await idsIn(session)).toEqual(['only', 'only-answer'])
    await say(session, 'next')
    time.now += DAY
    await runAll(memory, time)
    expect(await idsIn(session)).toEqual(['next', 'next-answer'])
  })

  it('never takes half a round: what was added to it late keeps all of it', async () => {
    const { memory, session, time } = open({ log: { days: 2 } })
    await say(session, 'old')
    await say(session, 'other')
    time.now += 2 * DAY
    await session.append({ id: 'late', role: 'assistant', content: 'By the way.' }, { round: 'old' })
    await say(session, 'new')
    await runAll(memory, time)
    expect(await idsIn(session)).toEqual(['old', 'old-answer', 'late', 'new', 'new-answer'])
    time.now += 2 * DAY
    await runAll(memory, time)
    expect(await idsIn(session)).toEqual(['new', 'new-answer'])
  })

  it('takes a long round as a whole', async () => {
    const { memory, session, time } = open({ log: { days: 2 } })
    await say(session, 'long')
    const steps = Array.from({ length: 1_300 }, (_, step) => ({
      role: 'assistant' as const,
      content: `Step ${step}.`,
    }))
    await session.append(steps)
    await say(session, 'other')
    time.now += 2 * DAY
    await say(session, 'new')
    await runAll(memory, time)
    expect(await idsIn(session)).toEqual(['new', 'new-answer'])
  })

  it('reads and writes a bounded part of a long log at each call, and what it forgot no more', async () => {
    const many = size(100_000)
    const store = mapStore()
    const { memory, time, run } = counting({ log: { days: 1 } }, store)
    const scope = store.open(TRIP)
    for (let first = 0; first < many / 2; first += 500)
      await scope.commit(
        Array.from({ length: 500 }, (_, at) => roundOf(`q${first + at}`, time.now)),
        decide,
      )
    time.now += DAY
    const session = memory.session(TRIP)
    await say(session, 'new')
    const { most, total, calls } = await run()
    // Each op twice: to find what derives from it, and to remove it.
    for (const [name, limit] of Object.entries({ reads: 16, rows: 530, commits: 6, ops: 1_030 }))
      expect([name, most[name as keyof Counts]]).toEqual([name, expect.toSatisfy((count) => count <= limit)])
    expect(calls).toBeGreaterThanOrEqual(Math.floor(many / 512))
    expect(calls).toBeLessThanOrEqual(many / 500)
    expect(total.rows).toBeLessThanOrEqual(1.02 * many)
    expect(await idsIn(session)).toEqual(['new', 'new-answer'])

    for (const again of [{ run }, counting({ log: { days: 1 } }, store, time)]) {
      time.now += 10 * DAY
      const { total, calls } = await again.run()
      expect([calls, total.commits]).toEqual([1, 0])
      expect(total.rows).toBeLessThanOrEqual(4)
    }
  }, 60_000)

  it('goes on over any number of messages that were forgotten before', async () => {
    const { memory, session, store, time } = open({ log: { days: 1 } })
    const ids = Array.from({ length: 1_100 }, (_, index) => `gone-${index}`)
    for (const id of ids) await session.append({ id, role: 'user', content: 'Old.' })
    await store.open(TRIP).commit(
      ids.map((id) => sealOp({ kind: 'delete', opId: `delete-${id}`, target: `entry:${id}` })),
      decide,
    )
    await say(session, 'old')
    await say(session, 'new')
    time.now += DAY
    await runAll(memory, time)
    expect(await idsIn(session)).toEqual(['new', 'new-answer'])
  })

  it('leaves no session out, and looks once, where it is called several times at once', async () => {
    let looks = 0
    const inner = mapStore()
    const store: Store = {
      ...inner,
      scopes: (after) => {
        looks++
        return inner.scopes(after)
      },
    }
    const { memory, time } = open({ log: { days: 1 } }, store)
    const sessions = Array.from({ length: 40 }, (_, index) =>
      memory.session({ userId: `user-${index}`, sessionId: 'trip' }),
    )
    for (const session of sessions) for (const id of ['old', 'new']) await say(session, id)
    time.now += DAY
    await Promise.all([runDueWork(memory), runDueWork(memory), runDueWork(memory)])
    // Retention once, once what looks for a forget that is owed, and once for facts untold.
    expect(looks).toBe(3)
    await runAll(memory, time)
    for (const session of sessions) expect(await idsIn(session)).toEqual(['new', 'new-answer'])
  })

  it('goes on in another process where one ended', async () => {
    const store = mapStore()
    const first = open({ log: { days: 1 } }, store)
    const { time } = first
    for (let round = 0; round < 600; round++) await say(first.session, `q${round}`)
    time.now += DAY
    await say(first.session, 'new')
    await runDueWork(first.memory)
    const second = open({ log: { days: 1 } }, store, time)
    await runAll(second.memory, time)
    expect(await idsIn(second.session)).toEqual(['new', 'new-answer'])
  })

  it('goes through all sessions of all users, though one of them cannot be read', async () => {
    const store = changedStore(mapStore(), (inner) => ({
      entries: async (query) => {
        const page = await inner.entries(query)
        if (page.rows.some(({ id }) => id === 'broken')) throw new Error('unreadable')
        return page
      },
    }))
    const { memory, time } = open({ log: { days: 1 } }, store)
    const sessions = Array.from({ length: 150 }, (_, index) =>
      memory.session({ userId: `user-${index}`, sessionId: 'trip' }),
    )
    for (const [index, session] of sessions.entries()) {
      await session.append({ id: index === 70 ? 'broken' : 'old', role: 'user', content: 'Old.' })
      await session.append({ id: 'next', role: 'user', content: 'Next.' })
    }
    time.now += DAY
    let failures = 0
    for (let next: number | undefined = time.now; next !== undefined && next <= time.now; )
      try {
        next = await runDueWork(memory)
      } catch {
        failures++
      }
    expect(failures).toBe(1)
    for (const [index, session] of sessions.entries())
      if (index !== 70) expect(await idsIn(session)).toEqual(['next'])
  })
})

describe('retention of facts', () => {
  it('takes those that were first said so long ago, with heads that show them; pinned ones stay', async () => {
    const { memory, session, store, time } = open({ facts: { days: 10 } })
    await session.append({ role: 'user', content: 'Hello.' })
    await session.facts.remember({ id: 'own', kind: 'finding', text: `Found ${CANARY} here.` })
    await session.facts.remember({ id: 'shared', kind: 'preference', text: `Likes ${CANARY}.` })
    await session.facts.remember({ id: 'pinned', kind: 'constraint', text: 'Never fly.', pinned: true })
    await session.context()
    time.now += 5 * DAY
    await session.facts.remember({ id: 'later', kind: 'finding', text: 'It rains.' })
    time.now += 5 * DAY - 1
    await runAll(memory, time)
    expect((await session.facts.list()).map(({ id }) => id).sort()).toEqual([
      'later',
      'own',
      'pinned',
      'shared',
    ])
    time.now += 1
    expect(await nextWorkAt(memory)).toBe(time.now)
    await runAll(memory, time)
    expect((await session.facts.list({ all: true })).map(({ id }) => id).sort()).toEqual(['later', 'pinned'])
    expect(await readEverything(store)).not.toContain(CANARY)
    expect(await nextWorkAt(memory)).toBe(time.now + 5 * DAY)
  })

  it('leaves one that was handed over to the user, and is pinned there', async () => {
    const { memory, session, time } = open({ facts: { days: 10 } })
    await session.facts.remember({ id: 'f1', kind: 'preference', text: 'Likes windows.', trust: 'tool' })
    await session.facts.promote('f1', { pinned: true })
    time.now += 11 * DAY
    await runAll(memory, time)
    expect(await memory.user(ADA).facts.list()).toMatchObject([{ id: 'f1', pinned: true }])
  })

  it('goes on over the calls where a scope has many', async () => {
    const { memory, time } = open({ facts: { days: 10 } }, undefined, undefined, {
      facts: { caps: { perHour: 10_000 } },
    })
    const { facts } = memory.user(ADA)
    for (let index = 0; index < 1_100; index++)
      await facts.remember({
        kind: 'preference',
        text: `Likes thing number ${index} ${'again '.repeat(index % 3)}.`,
      })
    time.now += 10 * DAY
    expect(await runAll(memory, time)).toBeGreaterThan(1)
    expect(await facts.list()).toEqual([])
  })
})

describe('retention of checkpoints', () => {
  it('takes one that was not written for so long, and each write starts the time again', async () => {
    const { memory, session, store, time } = open({ checkpoint: { days: 10 } })
    await session.checkpoint.set({ code: CANARY })
    time.now += 6 * DAY
    await session.commit({ checkpoint: { code: `${CANARY} again` } })
    time.now += 10 * DAY - 1
    await runAll(memory, time)
    expect(await session.checkpoint.get()).toMatchObject({ value: { code: `${CANARY} again` } })
    time.now += 1
    await runAll(memory, time)
    expect(await session.checkpoint.get()).toEqual({ value: undefined, version: null })
    expect(await readEverything(store)).not.toContain(CANARY)
    const { seq } = await store.open(TRIP).head()
    time.now += 11 * DAY
    await runAll(memory, time)
    expect((await store.open(TRIP).head()).seq).toBe(seq)
    await session.checkpoint.set({ code: 'another' })
    expect(await session.checkpoint.get()).toMatchObject({ value: { code: 'another' } })
  })

  it('leaves one that is written at the very moment at which it is found too old', async () => {
    let race: (() => Promise<unknown>) | undefined
    const store = changedStore(mapStore(), (inner) => ({
      register: async (key) => {
        const row = await inner.register(key)
        const run = key === 'checkpoint' ? race : undefined
        if (run) race = undefined
        await run?.()
        return row
      },
    }))
    const { memory, session, time } = open({ checkpoint: { days: 10 } }, store)
    await session.checkpoint.set({ step: 1 })
    time.now += 10 * DAY
    race = () => memory.session(TRIP).checkpoint.set({ step: 2 })
    await runAll(memory, time)
    expect(race).toBeUndefined()
    expect(await session.checkpoint.get()).toMatchObject({ value: { step: 2 } })
  })

  it('counts from the first look on where nothing says when it was written, and changes no version', async () => {
    const store = mapStore()
    const before = open(undefined, store)
    const version = await before.session.checkpoint.set({ code: 1 })
    const { memory, session, time } = open({ checkpoint: { days: 10 } }, store)
    await runAll(memory, time)
    expect((await session.checkpoint.get()).version).toBe(version)
    time.now += 10 * DAY - 1
    await runAll(memory, time)
    expect((await session.checkpoint.get()).version).toBe(version)
    time.now += 1
    await runAll(memory, time)
    expect((await session.checkpoint.get()).version).toBeNull()
  })
})

describe('retention', () => {
  it('is refused where it is none', () => {
    for (const [retention, argument] of [
      [7, 'options'],
      [{}, 'options'],
      [{ log: 30 }, 'log'],
      [{ log: {} }, 'log.days'],
      [{ facts: { days: 0 } }, 'facts.days'],
      [{ facts: { days: 1.5 } }, 'facts.days'],
      [{ checkpoint: { days: 36_501 } }, 'checkpoint.days'],
      [{ messages: { days: 1 } }, 'messages'],
      [{ log: { days: 1 }, onUnreadable: true }, 'onUnreadable'],
    ] as const)
      expect(() => open(retention as never)).toThrow(expect.objectContaining({ argument }))
  })

  it('looks at nothing before the time that it gave', async () => {
    let looks = 0
    const inner = mapStore()
    const store: Store = {
      ...inner,
      scopes: (after) => {
        looks++
        return inner.scopes(after)
      },
    }
    const { memory, session, time } = open({ log: { days: 3 } }, store)
    await say(session, 'q')
    await runAll(memory, time)
    const next = (await nextWorkAt(memory)) ?? 0
    expect(next).toBe(time.now + 3 * DAY)
    looks = 0
    time.now = next - 1
    expect(await runDueWork(memory)).toBe(next)
    expect(looks).toBe(0)
    time.now = next
    await runDueWork(memory)
    expect(looks).toBeGreaterThan(0)
  })

  it('has nothing to do where there is none', async () => {
    const { memory, session } = open(undefined)
    await say(session, 'q')
    expect(await nextWorkAt(memory)).toBeUndefined()
    expect(await runDueWork(memory)).toBeUndefined()
  })
})

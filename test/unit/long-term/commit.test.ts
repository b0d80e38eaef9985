import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isPlimsollError, mapStore, type Store } from '../../../src/index.ts'
import { decide } from '../../../src/kernel/log/decide.ts'
import { textOf } from '../../../src/kernel/log/message.ts'
import { sealOp } from '../../../src/kernel/log/seal.ts'
import { deleteSession } from '../../../src/operations/delete-session.ts'
import { forget } from '../../../src/operations/forget/forget.ts'
import { listSessions } from '../../../src/operations/sessions.ts'
import type { ScopeStore } from '../../../src/ports/store.ts'
import { type FullSession, fullMemory } from '../../contract/full-memory.ts'
import { changedStore } from '../../everywhere/changed-store.ts'
import { rememberedIn, rememberingSession } from '../support/remembering.ts'
import { runs } from '../support/runs.ts'

interface Progress {
  readonly processedIds: readonly string[]
}

const open = (store: Store): FullSession<Progress> =>
  fullMemory<Progress>({
    store,
    budget: 16_000,
    checkpoint: { initial: { processedIds: [] } },
  }).session({
    userId: 'ada',
    sessionId: 'trip',
  })
const done = (...processedIds: string[]): Progress => ({ processedIds })
const finding = (text: string, more = {}) => ({ kind: 'finding' as const, id: text, text, ...more })
const shown = async (session: FullSession): Promise<string[]> =>
  (await session.history({ messages: 100 })).map(textOf)
const state = async (store: Store) => ({
  log: await shown(open(store)),
  checkpoint: (await open(store).checkpoint.get()).value,
  facts: await rememberedIn(store),
})
const NOTHING = { log: [], checkpoint: done(), facts: [] }

describe('a commit', () => {
  it('writes messages, checkpoint and facts together', async () => {
    const store = mapStore()
    const session = rememberingSession<Progress>(store)
    const result = await session.commit({
      messages: [{ id: 'm', role: 'user', content: 'Turin' }],
      checkpoint: done('turin'),
      facts: [finding('Trains go at 9:40.', { sources: ['m'] })],
    })
    expect(result).toMatchObject({
      messages: [{ id: 'm', content: 'Turin' }],
      repeated: false,
      mismatch: false,
      facts: [{ status: 'new', fact: { text: 'Trains go at 9:40.' } }],
    })
    expect((await session.checkpoint.get()).version).toBe(result.checkpoint)
    const facts = ['Trains go at 9:40.']
    expect(await state(store)).toEqual({ log: ['Turin'], checkpoint: done('turin'), facts })
  })

  it('may hold a checkpoint alone, facts alone or one message, but not nothing', async () => {
    const store = mapStore()
    const session = rememberingSession<Progress>(store)
    expect(await session.commit({ checkpoint: done('a') })).toMatchObject({
      messages: [],
      checkpoint: expect.any(String),
    })
    expect(await session.commit({ facts: [finding('One.')] })).not.toHaveProperty('checkpoint')
    expect((await session.commit({ facts: [finding('One.')] })).facts).toMatchObject([{ status: 'known' }])
    await session.commit({ messages: { role: 'user', content: 'Hello' } })
    expect(await state(store)).toEqual({ log: ['Hello'], checkpoint: done('a'), facts: ['One.'] })
    const refused = { code: 'ERR_INVALID_ARGUMENT', argument: 'messages' }
    await expect(session.commit({})).rejects.toMatchObject(refused)
    await expect(session.commit({ messages: [], facts: [] })).rejects.toMatchObject(refused)
  })

  it('with a checkpoint of null keeps none from then on', async () => {
    const store = mapStore()
    const session = rememberingSession<Progress>(store)
    const { checkpoint: version = null } = await session.commit({ checkpoint: done('a') })
    const messages = { role: 'user' as const, content: 'All done' }
    const refused = session.commit({ messages, checkpoint: null }, { ifVersion: 'older' })
    await expect(refused).rejects.toMatchObject({ code: 'ERR_CONFLICT', version })
    const last = await session.commit({ messages, checkpoint: null }, { ifVersion: version })
    expect(last.checkpoint).toBeNull()
    expect(await state(store)).toEqual({ log: ['All done'], checkpoint: done(), facts: [] })
    expect((await session.checkpoint.get()).version).toBeNull()
  })

  it('with a checkpoint of null leaves no date of it either', async () => {
    const store = mapStore()
    const kept = { store, budget: 16_000, retention: { checkpoint: { days: 1 } } }
    const session = fullMemory<Progress>(kept).session({ userId: 'ada', sessionId: 'trip' })
    const row = () => store.open({ userId: 'ada', sessionId: 'trip' }).register('checkpoint')
    await session.commit({ checkpoint: done('a') })
    expect((await row())?.index).toHaveLength(1)
    await session.commit({ checkpoint: null })
    expect((await row())?.index ?? []).toEqual([])
  })

  it('joins its messages to rounds as append does', async () => {
    const store = mapStore()
    const session = open(store)
    await session.append({ id: 'first', role: 'user', content: 'First' })
    await session.append({ id: 'second', role: 'user', content: 'Second' })
    const answer = { role: 'assistant' as const, content: 'To the second' }
    await session.commit({ messages: answer, checkpoint: done() })
    await session.commit({ messages: { ...answer, content: 'To the first' } }, { round: 'first' })
    expect(await shown(session)).toEqual(['First', 'To the first', 'Second', 'To the second'])
    await expect(session.commit({ messages: answer }, { round: 'none' })).rejects.toMatchObject({
      code: 'ERR_NOT_FOUND',
      id: 'none',
    })
  })

  it('goes on in a session that was deleted elsewhere', async () => {
    const store = mapStore()
    const session = open(store)
    await session.append({ role: 'user', content: 'Gone' })
    const memory = fullMemory({ store, budget: 16_000 })
    await deleteSession(memory, { userId: 'ada' }, 'trip')
    await session.commit({ messages: { role: 'assistant', content: 'Here' }, checkpoint: done('x') })
    expect(await state(store)).toEqual({ ...NOTHING, log: ['Here'], checkpoint: done('x') })
    expect(await listSessions(memory, { userId: 'ada' })).toHaveLength(1)
  })

  it('tells listeners of its messages', async () => {
    const session = open(mapStore())
    session.subscribe(() => {})
    await session.commit({ messages: { role: 'user', content: 'Hello' }, checkpoint: done() })
    expect(session.getSnapshot().messages.map(textOf)).toEqual(['Hello'])
  })

  it('writes nothing where any of it is refused', async () => {
    const store = mapStore()
    const session = rememberingSession<Progress>(store)
    const all = {
      messages: [{ role: 'user' as const, content: 'x' }],
      checkpoint: done('x'),
      facts: [finding('x')],
    }
    const refused: [object, object, object][] = [
      [{ messages: [{ role: 'nobody' }] }, {}, { argument: 'messages[0].role' }],
      [{ messages: { role: 'nobody' } }, {}, { argument: 'messages.role' }],
      [{ checkpoint: () => 1 }, {}, { argument: 'checkpoint' }],
      [{ checkpoint: { when: new Date(0) } }, {}, { argument: 'checkpoint.when' }],
      [{ checkpoint: 'x'.repeat(40_000) }, {}, { code: 'ERR_ENTRY_TOO_LARGE' }],
      [{ facts: finding('x') }, {}, { argument: 'facts' }],
      [{ facts: [finding('x', { sources: ['unknown'] })] }, {}, { code: 'ERR_NOT_FOUND' }],
      [{ facts: [finding('x', { supersedes: 'unknown' })] }, {}, { code: 'ERR_NOT_FOUND' }],
      [{}, { ifVersion: 'older' }, { code: 'ERR_CONFLICT', version: null }],
      [{ checkpoint: undefined }, { ifVersion: null }, { argument: 'ifVersion' }],
      [{}, { opId: '' }, { argument: 'opId' }],
      [{ messages: [{ role: 'assistant', content: 'x' }] }, { round: 'none' }, { code: 'ERR_NOT_FOUND' }],
    ]
    for (const [input, options, error] of refused) {
      await expect(session.commit({ ...all, ...input } as never, options)).rejects.toMatchObject(error)
      expect(await state(store)).toEqual(NOTHING)
    }
    await session.append({ id: 'taken', role: 'user', content: 'First' })
    const twice = { ...all, messages: [{ id: 'taken', role: 'user' as const, content: 'Second' }] }
    await expect(session.commit(twice)).rejects.toMatchObject({ code: 'ERR_DUPLICATE_ID', id: 'taken' })
    expect(await state(store)).toEqual({ ...NOTHING, log: ['First'] })
  })

  it('is refused with the version of a checkpoint that others changed', async () => {
    const store = mapStore()
    const session = open(store)
    const { checkpoint: version } = await session.commit({ checkpoint: done('a') }, { ifVersion: null })
    const messages = { role: 'user' as const, content: 'b' }
    const refused = { code: 'ERR_CONFLICT', version: version ?? '' }
    await expect(
      session.commit({ messages, checkpoint: done('b') }, { ifVersion: null }),
    ).rejects.toMatchObject(refused)
    await session.commit({ messages, checkpoint: done('b') }, { ifVersion: refused.version })
    expect(await state(store)).toEqual({ ...NOTHING, log: ['b'], checkpoint: done('b') })
    await session.checkpoint.delete()
    const late = session.commit({ checkpoint: done('c') }, { ifVersion: refused.version })
    await expect(late).rejects.toMatchObject({ code: 'ERR_CONFLICT', version: null })
    await session.commit({ checkpoint: done('c') }, { ifVersion: null })
  })

  it('is prepared again where a fact or a checkpoint changed in between, eight times in all', async () => {
    for (const interruptions of [7, 8]) {
      const inner = mapStore()
      let left = interruptions
      const other = rememberingSession<Progress>(inner)
      await other.commit({ facts: [finding('0')] })
      const store = changedStore(inner, (scope) => ({
        commit: async (ops, decision) => {
          if (left-- > 0)
            await (left % 2 === 0
              ? other.checkpoint.set(done(`${left}`))
              : other.commit({ facts: [finding(`x${left}`)] }))
          return scope.commit(ops, decision)
        },
      }))
      const facts = [...'1357'].map((place) => finding(`x${place}`))
      const outcome = await rememberingSession<Progress>(store)
        .commit({ messages: { role: 'user', content: 'x' }, checkpoint: done('mine'), facts })
        .catch((error: unknown) => error)
      if (interruptions === 7) expect(outcome).toMatchObject({ repeated: false })
      const { log } = await state(inner)
      expect(log).toEqual(isPlimsollError(outcome) ? [] : ['x'])
      expect(isPlimsollError(outcome, 'ERR_CONFLICT')).toBe(interruptions === 8)
    }
  })

  it('is prepared again where a fact changed in between, though it names the version of its checkpoint', async () => {
    const inner = mapStore()
    const other = rememberingSession<Progress>(inner)
    const version = await other.checkpoint.set(done('a'))
    let left = 1
    const store = changedStore(inner, (scope) => ({
      commit: async (ops, decision) => {
        if (left-- > 0) await other.commit({ facts: [finding('x')] })
        return scope.commit(ops, decision)
      },
    }))
    const input = { checkpoint: done('b'), facts: [finding('x'), finding('y')] }
    const { facts: remembered } = await rememberingSession<Progress>(store).commit(input, {
      ifVersion: version,
    })
    expect(remembered).toMatchObject([{ status: 'known' }, { status: 'new' }])
    expect(await state(inner)).toEqual({ ...NOTHING, checkpoint: done('b'), facts: ['x', 'y'] })
  })

  it('is prepared again where what says the same as a fact of it was forgotten in between', async () => {
    const inner = mapStore()
    const other = rememberingSession<Progress>(inner)
    await other.facts.remember({ id: 'old', kind: 'finding', text: 'Trains go at 9:40.' })
    let left = 1
    const store = changedStore(inner, (scope) => ({
      commit: async (ops, decision) => {
        if (left-- > 0) await forget(other, 'old')
        return scope.commit(ops, decision)
      },
    }))
    const facts = [{ kind: 'finding' as const, text: 'The trains go at 9:40.' }]
    const { facts: remembered } = await rememberingSession<Progress>(store).commit({ facts })
    expect(remembered).toMatchObject([{ status: 'new', fact: { text: 'The trains go at 9:40.' } }])
  })

  it('is refused where a fact was forgotten for ever', async () => {
    const store = mapStore()
    const scope = store.open({ userId: 'ada', sessionId: 'trip' })
    await scope.commit([sealOp({ kind: 'delete', opId: 'forget', target: 'register:fact/x' })], decide)
    const session = rememberingSession<Progress>(store)
    const refused = { code: 'ERR_NOT_FOUND', id: 'fact/x' }
    await expect(session.commit({ checkpoint: done('x'), facts: [finding('x')] })).rejects.toMatchObject(
      refused,
    )
    expect(await state(store)).toEqual(NOTHING)
  })
})

describe('a commit that is repeated', () => {
  const input = {
    messages: [
      { role: 'user' as const, content: 'One' },
      { role: 'user' as const, content: 'Two' },
    ],
    checkpoint: done('one'),
    facts: [finding('New.', { supersedes: 'Old.' })],
  }
  const setUp = async () => {
    const store = mapStore()
    const session = rememberingSession<Progress>(store)
    await session.commit({ facts: [finding('Old.')] })
    const first = await session.commit(input, { opId: 'mine', ifVersion: null })
    return { store, session, first }
  }

  it('is a no-op that gives the first result, though its parts would be refused now', async () => {
    const { store, session, first } = await setUp()
    const before = await state(store)
    const { seq } = await store.open({ userId: 'ada', sessionId: 'trip' }).head()
    const again = await session.commit(input, { opId: 'mine', ifVersion: null })
    expect(again).toMatchObject({ messages: first.messages, repeated: true, mismatch: false })
    expect(again.checkpoint).toBe(first.checkpoint)
    expect(await state(store)).toEqual(before)
    expect((await store.open({ userId: 'ada', sessionId: 'trip' }).head()).seq).toBe(seq)
  })

  it('changes nothing of what was written since', async () => {
    const { store, session } = await setUp()
    await session.checkpoint.set(done('one', 'later'))
    await session.commit({ facts: [finding('Newer.', { supersedes: 'New.' })] })
    const before = await state(store)
    await session.commit({ ...input, facts: [...input.facts, finding('More.')] }, { opId: 'mine' })
    expect(await state(store)).toEqual(before)
  })

  it('says that what came with the same name was something else', async () => {
    const { store, session, first } = await setUp()
    const before = await state(store)
    const messages = [...input.messages, { role: 'user' as const, content: 'Three' }]
    const again = await session.commit({ messages, facts: [finding('More.')] }, { opId: 'mine' })
    expect(again).toMatchObject({ messages: first.messages, repeated: true, mismatch: true })
    expect(await state(store)).toEqual(before)
  })

  it('gives none of what others write while it looks for its first result', async () => {
    const { store, first } = await setUp()
    const other = open(store)
    const busy = changedStore(store, (scope) => ({
      changesSince: async (seq) => {
        await other.append({ role: 'user', content: 'Other' })
        return scope.changesSince(seq)
      },
    }))
    const messages = [...input.messages, { role: 'user' as const, content: 'Three' }]
    const again = await rememberingSession<Progress>(busy).commit({ messages }, { opId: 'mine' })
    expect(again).toMatchObject({ messages: first.messages, repeated: true, mismatch: true })
  })

  it('is known by its facts alone', async () => {
    const store = mapStore()
    const session = rememberingSession<Progress>(store)
    await session.commit({ facts: [finding('Old.')] })
    const facts = [finding('New.', { supersedes: 'Old.' }), finding('Newest.', { supersedes: 'New.' })]
    await session.commit({ facts }, { opId: 'mine' })
    await session.commit({ facts: [finding('Other.', { supersedes: 'Newest.' })] })
    expect(await session.commit({ facts: [finding('x', { supersedes: 'Old.' })] }, { opId: 'mine' })).toEqual(
      {
        messages: [],
        repeated: true,
        mismatch: false,
        facts: [],
      },
    )
    expect(await rememberedIn(store)).toEqual(['Other.'])
  })

  it('is known by the ids of its messages, and no append takes its place', async () => {
    const store = mapStore()
    const session = open(store)
    const messages = { id: 'm', role: 'user' as const, content: 'Hello' }
    await session.commit({ messages, checkpoint: done('a') })
    expect(await session.commit({ messages, checkpoint: done('b') })).toMatchObject({ repeated: true })
    expect((await session.checkpoint.get()).value).toEqual(done('a'))
    await session.append({ ...messages, id: 'n' })
    const late = session.commit({ messages: { ...messages, id: 'n' }, checkpoint: done('c') })
    await expect(late).rejects.toMatchObject({ code: 'ERR_DUPLICATE_ID', id: 'n' })
  })
})

describe('a pipeline that keeps what it has done in its checkpoint', () => {
  const items = ['a', 'b', 'c', 'd']

  /** Processes what is left, one item a commit. */
  const process = async (store: Store): Promise<void> => {
    const session = open(store)
    for (;;) {
      const { value = done(), version } = await session.checkpoint.get()
      const item = items.find((one) => !value.processedIds.includes(one))
      if (item === undefined) return
      const messages = [
        { role: 'user' as const, content: item },
        { role: 'assistant' as const, content: `${item} is done` },
      ]
      const checkpoint = done(...value.processedIds, item)
      await session.commit({ messages, checkpoint }, { ifVersion: version })
    }
  }
  const whole = {
    ...NOTHING,
    log: items.flatMap((item) => [item, `${item} is done`]),
    checkpoint: done(...items),
  }
  const check = async (store: Store): Promise<void> => {
    const { log, checkpoint } = await state(store)
    expect(log).toEqual((checkpoint?.processedIds ?? []).flatMap((item) => [item, `${item} is done`]))
  }

  /**
   * A store whose process ends at its `until`th call: before it for even numbers, after it for odd
   * ones.
   */
  const mortal = (store: Store, until: number): { store: Store; isDead: () => boolean } => {
    let calls = 0
    let isDead = false
    const dying =
      <Input extends unknown[], Output>(call: (...input: Input) => Promise<Output>) =>
      async (...input: Input): Promise<Output> => {
        const place = calls++
        if (place === until >> 1) isDead = true
        if (isDead && (place !== until >> 1 || until % 2 === 0)) throw new Error('killed')
        const output = await call(...input)
        if (isDead) throw new Error('killed')
        return output
      }
    const killed = changedStore(
      store,
      (scope): Partial<ScopeStore> => ({
        commit: dying((ops, decision) => scope.commit(ops, decision)),
        register: dying((key) => scope.register(key)),
        changesSince: dying((seq) => scope.changesSince(seq)),
        entries: dying((query) => scope.entries(query)),
        head: dying(() => scope.head()),
      }),
    )
    return { store: killed, isDead: () => isDead }
  }

  it('processes each item exactly once, wherever it is killed', async () => {
    let kills = 0
    for (let until = 0; ; until++) {
      const store = mapStore()
      const life = mortal(store, until)
      await process(life.store).catch(() => {})
      if (!life.isDead()) break
      kills++
      await check(store)
      await process(store)
      expect(await state(store)).toEqual(whole)
    }
    expect(kills).toBeGreaterThan(2 * items.length)
  })

  it('does so when it is killed again and again', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(30), { maxLength: 12 }), async (ends) => {
        const store = mapStore()
        for (const until of ends) {
          await process(mortal(store, until).store).catch(() => {})
          await check(store)
        }
        await process(store)
        expect(await state(store)).toEqual(whole)
      }),
      runs(100),
    )
  })

  it('does so when several of it run at once, each of which may be refused and go on', async () => {
    const store = mapStore()
    const stubborn = async (): Promise<void> => {
      await process(store).catch((error: unknown) => {
        if (!isPlimsollError(error, 'ERR_CONFLICT')) throw error
        return stubborn()
      })
    }
    await Promise.all([stubborn(), stubborn(), stubborn()])
    const { log, checkpoint } = await state(store)
    expect(checkpoint).toEqual(done(...items))
    expect([...log].sort()).toEqual([...whole.log].sort())
  })
})

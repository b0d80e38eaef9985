import { describe, expect, it } from 'vitest'
import {
  type Context,
  charsPerToken,
  type EpochMark,
  type MessageInput,
  mapStore,
  type SealedOp,
  type Store,
  type ToolSpec,
  utf8Bound,
} from '../../src/index.ts'
import { decide } from '../../src/kernel/log/decide.ts'
import { sealOp } from '../../src/kernel/log/seal.ts'
import { contextAt } from '../../src/operations/context-at.ts'
import { deleteSession } from '../../src/operations/delete-session.ts'
import { rewind } from '../../src/operations/rewind.ts'
import { listSessions } from '../../src/operations/sessions.ts'
import { PAGE_UNITS } from '../../src/ports/store.ts'
import {
  type FullMemory,
  type FullMemoryOptions,
  type FullSession,
  fullMemory,
} from '../contract/full-memory.ts'
import { changedStore } from '../everywhere/changed-store.ts'
import { answer, calls, result, shown, user } from './support/messages.ts'

/** Each test here holds something that was wrong once. */

const scope = { userId: 'ada', sessionId: 'trip' }

function remember(store: Store, options: Partial<FullMemoryOptions> = {}): FullMemory {
  return fullMemory({ store, budget: 1_000, counter: utf8Bound, clock: () => 0, ...options })
}
function open(store: Store, options: Partial<FullMemoryOptions> = {}): FullSession {
  return remember(store, options).session(scope)
}
/** What a session with nothing in memory would send. */
function cold(store: Store, options: Partial<FullMemoryOptions> = {}): Promise<Context> {
  return open(store, options).context({ preview: true })
}
/** A store in which something happens after each commit, or before rows are read. */
function meddled(
  store: Store,
  { committed, reading }: { committed?: (ops: readonly SealedOp[]) => void; reading?: () => void },
): Store {
  return changedStore(store, (inner) => ({
    commit: async (ops, decide) => {
      const results = await inner.commit(ops, decide)
      committed?.(ops)
      return results
    },
    entries: async (query) => {
      reading?.()
      return inner.entries(query)
    },
  }))
}
const forget = (store: Store, id: string): Promise<unknown> =>
  store.open(scope).commit([sealOp({ kind: 'delete', opId: `forget ${id}`, target: `entry:${id}` })], decide)
const newestEpoch = async (store: Store): Promise<EpochMark> => {
  const {
    rows: [row],
  } = await store.open(scope).entries({ kinds: ['epoch'], last: 1 })
  return JSON.parse(row?.body ?? '{}') as EpochMark
}
const seqOf = async (store: Store): Promise<number> => (await store.open(scope).head()).seq
const exchange = (index: number): MessageInput[] => [
  user(`u${index}`, 'y'.repeat(60)),
  answer(`a${index}`, 'y'.repeat(60)),
]
const listed = async (session: FullSession): Promise<string[]> =>
  (await session.history()).map(({ id }) => id)

describe('epochs and limits', () => {
  it.each([
    {
      limit: 'of messages',
      max: { messages: 2 },
      messages: [user('go'), calls('step', 'c', 'd'), result('r', 'c'), result('s', 'd')],
    },
    { limit: 'of tokens', max: { tokens: 50 }, messages: [user('go', 'x'.repeat(200))] },
  ])('a limit $limit below the newest step alone begins no epoch at each call', async ({ max, messages }) => {
    const store = mapStore()
    const session = open(store, { window: { max } })
    await session.append(messages)
    const first = await session.context()
    expect(first.receipt.epoch).not.toBe('unsaved')
    const seq = await seqOf(store)
    expect((await session.context()).hash).toBe(first.hash)
    expect(await seqOf(store)).toBe(seq)
  })

  it('tools that are added to the same array count at the next call, and not in the last one', async () => {
    const session = open(mapStore())
    await session.append(user('u'))
    const tools: ToolSpec[] = [{ name: 'find', inputSchema: { type: 'object' } }]
    const before = await session.context({ tools })
    tools.push({ name: 'book', description: 'x'.repeat(5_000), inputSchema: { type: 'object' } })
    await expect(session.context({ tools })).rejects.toMatchObject({ code: 'ERR_BUDGET_TOO_SMALL' })
    expect(before.tools?.length).toBe(1)
  })

  it('outputs that are shown short stay so when a rewind hides the entry up to which they are', async () => {
    const store = mapStore()
    const session = open(store, { budget: 4_000, toolOutput: { first: 300, old: 60 } })
    for (let step = 0; step < 8; step++) {
      if (step % 4 === 0) await session.append(user(`u${step}`))
      await session.append([calls(`c${step}`, 'x'), result(`r${step}`, 'x', 'o'.repeat(1_000))])
    }
    await session.context({ newEpoch: true })
    const { oldBefore } = (await newestEpoch(store)).cuts
    await rewind(session, oldBefore ?? 'nothing')
    const before = await session.context()
    await session.append(user('next'))
    const after = await session.context()
    expect(after.epoch).toBe(before.epoch)
    expect(after.blocks.slice(0, before.blocks.length - 1)).toEqual(before.blocks.slice(0, -1))
  })

  it('the first message of a window can be forgotten, and all agree on what shows then', async () => {
    const store = mapStore()
    const session = open(store)
    for (let index = 0; index < 8; index++) await session.append(exchange(index))
    const [first = 'nothing'] = shown(await session.context())
    await forget(store, first)
    const warm = await session.context({ preview: true })
    const fresh = await cold(store)
    expect(shown(warm)).not.toContain(first)
    expect(warm.hash).toBe(fresh.hash)
    expect(warm.receipt.omitted).toEqual(fresh.receipt.omitted)
  })

  it('an epoch whose mark was forgotten is followed by one that is saved', async () => {
    const store = mapStore()
    const session = open(store)
    for (let index = 0; index < 8; index++) await session.append(exchange(index))
    const { epoch } = await session.context()
    await forget(store, epoch)
    expect((await session.context()).receipt.epoch).not.toBe('unsaved')
  })

  it('an epoch is saved though a message asks for the id that it will have', async () => {
    const session = open(mapStore())
    await session.append(user('u'))
    const { epoch } = await session.context({ preview: true })
    await expect(session.append(answer(epoch))).rejects.toMatchObject({
      code: 'ERR_INVALID_ARGUMENT',
      argument: 'message.id',
    })
    await session.append(answer('a'))
    expect((await session.context()).receipt.epoch).not.toBe('unsaved')
  })

  it.each([
    { start: 'nothing', messages: [], shows: [] },
    {
      start: 'a note only',
      messages: [{ id: 'note', role: 'system', content: 'note' } as const],
      shows: ['note'],
    },
    { start: 'orphans only', messages: [result('r', 'x'), result('s', 'y')], shows: [] },
  ])('a session that holds $start gives the same bytes twice, and goes on', async ({ messages, shows }) => {
    const store = mapStore()
    const session = open(store)
    if (messages.length > 0) await session.append(messages)
    const { hash } = await session.context()
    expect((await session.context()).hash).toBe(hash)
    expect((await cold(store)).hash).toBe(hash)
    await session.append(user('u'))
    expect(shown(await session.context())).toEqual([...shows, 'u'])
    expect(shown(await cold(store))).toEqual([...shows, 'u'])
  })
})

describe('appending again', () => {
  it('by op id alone gives the messages of the first time, ids and all', async () => {
    const session = open(mapStore())
    const first = await session.append({ role: 'user', content: 'Hello' }, { opId: 'op' })
    const again = await session.append({ role: 'user', content: 'Hello' }, { opId: 'op' })
    expect(again).toEqual({ ...first, repeated: true })
    expect(await listed(session)).toEqual(first.messages.map(({ id }) => id))
  })

  it('under the op id of another body gives all of the first result, and says so', async () => {
    const session = open(mapStore())
    const said = (content: string) => ({ role: 'user', content }) as const
    const both = [said('one'), said('two')]
    const first = await session.append(both, { opId: 'op' })
    expect(await session.append(both, { opId: 'op' })).toEqual({ ...first, repeated: true })
    for (const other of [said('one'), said('two'), [...both, said('three')]])
      expect(await session.append(other, { opId: 'op' })).toEqual({
        ...first,
        repeated: true,
        mismatch: true,
      })
    const fact = { kind: 'finding', text: 'The ferry leaves at noon.' } as const
    expect(await session.commit({ facts: [fact] }, { opId: 'op' })).toMatchObject({
      ...first,
      repeated: true,
      mismatch: true,
    })
    await session.commit({ facts: [fact] }, { opId: 'other' })
    expect(await session.append(said('one'), { opId: 'other' })).toEqual({
      messages: [],
      repeated: true,
      mismatch: true,
    })
    expect(await listed(session)).toEqual(first.messages.map(({ id }) => id))
  })

  it('is the same though its parts would join other rounds by now', async () => {
    const session = open(mapStore())
    const call = { type: 'tool-call', id: 'x', name: 'find', input: {} } as const
    await session.append([user('u1'), { id: 'c', role: 'assistant', content: [call] }])
    await session.append(user('u2'))
    const body: MessageInput[] = [
      { id: 'r', role: 'tool', content: [{ type: 'tool-result', callId: 'x', output: 1 }] },
      { id: 'a', role: 'assistant', content: 'There.' },
    ]
    const first = await session.append(body, { opId: 'op' })
    expect(await session.append(body, { opId: 'op' })).toEqual({ ...first, repeated: true })
  })

  it('what is old does not take the conversation back to its round', async () => {
    const session = open(mapStore())
    await session.append(user('u1'))
    await session.append(user('u2'))
    await session.append(user('u1'))
    await session.append(answer('a'))
    expect(await listed(session)).toEqual(['u1', 'u2', 'a'])
  })

  it('writes a batch whole though an earlier op is named as a part of it would be', async () => {
    const session = open(mapStore())
    await session.append(user('u1'), { opId: 'run/1' })
    const { repeated } = await session.append([user('u2'), user('u3')], { opId: 'run' })
    expect(repeated).toBe(false)
    expect(await listed(session)).toEqual(['u1', 'u2', 'u3'])
  })

  it('after a deletion lists the session again', async () => {
    const memory = remember(mapStore())
    const session = memory.session(scope)
    await session.append(user('u1'))
    await deleteSession(memory, { userId: 'ada' }, 'trip')
    await session.append(user('u2'))
    expect((await listSessions(memory, { userId: 'ada' })).map(({ sessionId }) => sessionId)).toEqual([
      'trip',
    ])
  })

  it('after a deletion needs no user message', async () => {
    const memory = remember(mapStore())
    const session = memory.session(scope)
    await session.append(user('u1'))
    await deleteSession(memory, { userId: 'ada' }, 'trip')
    await session.append(answer('a2'))
    expect(await listed(session)).toEqual(['a2'])
  })

  it('rewinding under an id that is taken hides what it should, or fails', async () => {
    const session = open(mapStore(), { newId: () => 'same' })
    await session.append([user('u1'), user('u2')])
    await rewind(session, 'u2')
    await session.append(user('u3'))
    const hidden = await rewind(session, 'u3').then(
      () => true,
      () => false,
    )
    expect(await listed(session)).toEqual(hidden ? ['u1'] : ['u1', 'u3'])
  })
})

describe('tabs and cold starts', () => {
  it('keep a rewound question hidden while a late writer goes on in its round', async () => {
    const store = mapStore()
    const session = open(store)
    const late = open(store)
    await session.append(user('u0'))
    await session.append(user('u1', 'Forget this'))
    await late.context()
    await rewind(session, 'u1')
    for (let step = 0; step < 12; step++)
      await late.append(answer(`s${step}`, 'y'.repeat(100)), { round: 'u1' })
    const warm = await late.context()
    expect(shown(warm)).not.toContain('u1')
    expect(shown(await cold(store))).toEqual(shown(warm))
    await late.append(answer('more'), { round: 'u1' })
    expect(shown(await late.context())).not.toContain('u1')
  })

  it('show as much as a warm session where the opener of the round is capped', async () => {
    const store = mapStore()
    const options = { budget: 6_000, toolOutput: { first: 300, old: 60 } }
    const session = open(store, options)
    await session.append(user('u1', 'x'.repeat(2_500)))
    // An orphan: to look for its call, the session reads the log.
    await session.append(result('r1', 'nobody'))
    for (let step = 0; step < 100; step++) await session.append(answer(`s${step}`, 'y'.repeat(20)))
    await session.append([user('u2'), answer('a2')])
    await session.append(result('r2', 'nobody'))
    expect(shown(await cold(store, options))).toEqual(shown(await session.context({ preview: true })))
  })

  it('agree on a late result, also the tab that only ever followed', async () => {
    const store = mapStore()
    const leader = open(store)
    const follower = open(store)
    await leader.append([user('u0'), calls('c0', 'k')])
    for (let index = 1; index < 12; index++) {
      await leader.append(exchange(index))
      await leader.context()
      await follower.context()
    }
    await leader.append(result('late', 'k'), { round: 'u0' })
    const fresh = await cold(store)
    for (const tab of [follower, leader]) {
      const context = await tab.context({ preview: true })
      expect(context.receipt.epoch).toEqual(fresh.receipt.epoch)
      expect(context.hash).toBe(fresh.hash)
    }
  })

  it('agree on a late reply to a round that a rewind hid', async () => {
    const store = mapStore()
    const one = open(store)
    const two = open(store)
    await one.append([user('u0'), answer('a0')])
    await two.context()
    await two.append(user('u1', 'Forget this'))
    await one.context()
    await two.context()
    await rewind(one, 'u1')
    for (let step = 0; step < 14; step++) {
      await one.append(answer(`s${step}`, 'y'.repeat(100)), { round: 'u0' })
      await one.context()
    }
    await two.append(answer('late', 'A late reply'), { round: 'u1' })
    const fresh = await cold(store)
    for (const tab of [one, two]) {
      const context = await tab.context({ preview: true })
      expect(shown(context)).toEqual(shown(fresh))
      expect(context.hash).toBe(fresh.hash)
    }
  })
})

describe('storage that fails', () => {
  /** A store whose next read of entries fails, once, when its state says so. */
  function failing(
    store: Store,
    committed?: (ops: readonly SealedOp[]) => void,
  ): { readonly store: Store; readonly state: { fails: boolean; failed: boolean } } {
    const state = { fails: false, failed: false }
    const reading = (): void => {
      if (!state.fails) return
      state.fails = false
      state.failed = true
      throw new Error('disk gone')
    }
    return { state, store: meddled(store, { reading, ...(committed && { committed }) }) }
  }

  it('while a session reads all again leaves nothing out afterwards', async () => {
    const inner = mapStore()
    const { store, state } = failing(inner)
    const session = open(store)
    await session.append([user('u1'), answer('a1'), user('u2')])
    await session.context()
    await forget(inner, 'a1')
    state.fails = true
    await session.context().catch(() => {})
    expect(state.failed).toBe(true)
    expect(shown(await session.context())).toEqual(['u1', 'u2'])
  })

  it('right after an epoch was written leaves a window that a cold start shares', async () => {
    const inner = mapStore()
    let armed = false
    const { store, state } = failing(inner, (ops) => {
      state.fails ||= armed && !state.failed && ops.some(({ envelope }) => envelope.mark !== undefined)
    })
    const session = open(store)
    await session.append(user('u1'))
    for (let step = 0; step < 3; step++) await session.append(answer(`s${step}`, 'y'.repeat(100)))
    await session.context()
    for (let step = 3; step < 12; step++) await session.append(answer(`s${step}`, 'y'.repeat(100)))
    armed = true
    await session.context().catch(() => {})
    expect(state.failed).toBe(true)
    await session.append(answer('next'))
    expect(shown(await session.context({ preview: true }))).toEqual(shown(await cold(inner)))
  })
})

describe('messages longer than a page of the store', () => {
  const LONG = 'x'.repeat(PAGE_UNITS)
  /**
   * Fails instead of reading for ever: loops that await what is there already let nobody else in.
   */
  function bounded(store: Store): Store {
    let reads = 0
    return meddled(store, {
      reading: () => {
        if (++reads > 200) throw new Error('it reads without end')
      },
    })
  }
  const limits = { budget: PAGE_UNITS * 4 }

  it('are read after the entry with which a window begins', async () => {
    const store = bounded(mapStore())
    const session = open(store, limits)
    await session.append([user('u1'), answer('a1')])
    await session.context()
    await session.append([user('u2', LONG), answer('a2'), user('u3')])
    expect(shown(await open(store, limits).context())).toEqual(['u1', 'a1', 'u2', 'a2', 'u3'])
  })

  it('are named as left out, where they follow the message that opened the round', async () => {
    const store = bounded(mapStore())
    const small = { budget: 40_000 }
    const session = open(store, small)
    const steps = Array.from({ length: 90 }, (_, step) =>
      answer(`s${step}`, 'y'.repeat(step === 0 ? PAGE_UNITS : 1_000)),
    )
    await session.append([user('u1'), ...steps])
    const { receipt, blocks } = await open(store, small).context()
    expect(blocks.flatMap(({ from }) => from)).toContain('u1')
    expect(receipt.omitted.map(({ from }) => from)).toEqual(['s0'])
    const again = await open(store, small).context()
    expect(again.receipt.omitted).toEqual(receipt.omitted)
  })

  it('stand after the newest message of a context that is explained', async () => {
    const store = bounded(mapStore())
    const session = open(store, limits)
    await session.append([user('u1'), answer('a1')])
    const sent = await session.context()
    await session.append(user('u2', LONG))
    expect(shown((await contextAt(open(store, limits), 'a1')).context)).toEqual(shown(sent))
  })
})

describe('listeners', () => {
  it('that come back are told what they missed', async () => {
    const store = mapStore()
    const session = open(store)
    await session.append(user('u1'))
    const stop = session.subscribe(() => {})
    await session.history()
    stop()
    await open(store).append(user('u2'))
    let told = 0
    session.subscribe(() => told++)
    await session.history()
    expect(told).toBeGreaterThan(0)
    expect(session.getSnapshot().messages.map(({ id }) => id)).toEqual(['u1', 'u2'])
  })

  it('may throw without failing the call that tells them', async () => {
    const session = open(mapStore())
    session.subscribe(() => {
      throw new Error('no screen')
    })
    expect((await session.append(user('u1'))).repeated).toBe(false)
    expect(shown(await session.context())).toEqual(['u1'])
  })
})

describe('counters', () => {
  it.each([
    { always: 'always', count: () => Number.NaN },
    { always: 'for one text', count: (text: string) => (text === 'u1' ? Number.NaN : text.length) },
  ])('that $always give no number send nothing', async ({ count }) => {
    const send = async (): Promise<Context> => {
      const session = open(mapStore(), { counter: { id: 'none', kind: 'exact', count } })
      await session.append(user('u1'))
      return session.context()
    }
    await expect(send()).rejects.toThrow('count')
  })

  it.each([0, -1, Number.NaN])('of %s characters a token are refused', (chars) => {
    expect(() => charsPerToken(chars)).toThrow()
  })
})

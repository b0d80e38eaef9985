import { describe, expect, it } from 'vitest'
import { charsPerToken } from '../../src/counters/simple.ts'
import { type Context, type MessageInput, mapStore, type Store } from '../../src/index.ts'
import { decide } from '../../src/kernel/log/decide.ts'
import { sealOp } from '../../src/kernel/log/seal.ts'
import { contextAt } from '../../src/operations/context-at.ts'
import { rewind, undo } from '../../src/operations/rewind.ts'
import { memoryWith } from '../contract/full-memory.ts'
import { changedStore } from '../everywhere/changed-store.ts'
import {
  content,
  eventsOf,
  filler,
  memoryOf,
  open,
  round,
  scope,
  summariesIn,
  summariser,
  untilSummary,
} from './support/compacting.ts'
import { expectAllAccounted } from './support/coverage.ts'
import { shown } from './support/messages.ts'

const cause = ({ receipt: { epoch } }: Context): string => (typeof epoch === 'string' ? epoch : epoch.cause)
const idsIn = async (store: Store): Promise<readonly string[]> =>
  (await store.open(scope).entries({ kinds: ['message'] })).rows.map(({ id }) => id)

describe('a rewind', () => {
  it('to where a summary ends leaves the summary alone, and nothing of what it covers shows beside it', async () => {
    const store = mapStore()
    const session = open(
      { model: content() },
      { window: { max: { messages: 6 }, keep: { messages: 3 } } },
      store,
    )
    await session.append({ id: 'q', role: 'user', content: 'Go' })
    let context = await session.context()
    // The cut falls into the round.
    for (let index = 0; !context.receipt.summary; index++) {
      await session.append({ id: `a${index}`, role: 'assistant', content: filler })
      context = await session.context()
    }
    const [summary, opener, first = ''] = shown(context)
    expect([summary, opener, first]).toEqual([
      context.receipt.summary.id,
      'q',
      expect.stringMatching(/^a\d$/),
    ])
    await rewind(session, first)
    for (const preview of [true, false]) {
      const after = await session.context({ preview })
      expect(shown(after)).toEqual([context.receipt.summary?.id])
      expectAllAccounted(after, await idsIn(store))
    }
    await session.append({ id: 'next', role: 'user', content: 'And now?' })
    expect(shown(await session.context())).toEqual([context.receipt.summary?.id, 'next'])
    await session.append({ role: 'assistant', content: 'Now this.' })
    expect((await contextAt(session, 'next')).verified).toBe(true)
  })
})

describe('ahead of need', () => {
  /** A model whose answers wait until they are let through. */
  const held = () => {
    const waiting: (() => void)[] = []
    const model = summariser(
      () => new Promise<string>((resolve) => waiting.push(() => resolve('They planned a trip.'))),
    )
    return {
      model,
      release: () => {
        for (const go of waiting.splice(0)) go()
      },
    }
  }
  const isNear = ({ receipt: { used, cap } }: Context): boolean => used >= 0.8 * Number(cap)

  it('one summary is written from 80 % on, and the epoch shows it without waiting for the model', async () => {
    const { model, release } = held()
    const store = mapStore()
    const session = open({ model, ahead: 0.8 }, {}, store)
    let index = 0
    for (let near = false; !near; index++) {
      await session.append(round(index))
      const context = await session.context()
      expect(cause(context)).toBe('start')
      near = isNear(context)
      await Promise.resolve()
      expect(model.requests.length).toBe(near ? 1 : 0)
    }
    // It goes on being written while contexts are built, and once.
    await session.context()
    await session.append({ role: 'user', content: 'Well?' })
    expect((await session.context()).receipt.summary).toBeUndefined()
    expect(model.requests.length).toBe(1)
    const waited = session.compaction.settled()
    release()
    await waited
    expect((await summariesIn(store)).length).toBe(1)
    const before = model.requests.length
    const { context } = await untilSummary(session, index)
    expect(model.requests.length).toBe(before)
    expect(context.receipt.summary?.by).toBe('summariser')
    expect(context.receipt.omitted).toEqual([])
  })

  it('one at a time is written, even for two session objects of one memory', async () => {
    const { model, release } = held()
    const memory = memoryWith(['compaction'], {
      store: mapStore(),
      budget: { contextWindow: 1_000, maxOutputTokens: 0, margin: 0 },
      counter: charsPerToken(4),
      compaction: { model },
    })
    const tabs = [memory.session(scope), memory.session(scope)]
    for (let index = 0; index < 10; index++) {
      await tabs[index % 2]?.append(round(index))
      for (const tab of tabs) await tab.context()
      if (isNear((await tabs[0]?.context()) as Context)) break
    }
    for (const tab of tabs) await tab.context()
    expect(model.requests.length).toBe(1)
    let done = 0
    const waited = tabs.map((tab) => tab.compaction.settled().then(() => done++))
    await new Promise((resolve) => setTimeout(resolve, 2))
    expect(done).toBe(0)
    release()
    await Promise.all(waited)
  })

  it('nothing is written below 80 %, nor with `ahead: false`, nor by a preview', async () => {
    for (const [ahead, preview] of [
      [false, false],
      [0.8, true],
    ] as const) {
      const model = content()
      const session = open({ model, ahead })
      for (let index = 0; index < 11; index++) {
        await session.append([...round(index), { role: 'user', content: 'Go on' }])
        const context = await session.context({ preview })
        await session.compaction.settled()
        if (cause(context) === (preview ? 'preview' : 'start')) expect(model.requests.length).toBe(0)
      }
    }
  })

  const begins = async (window: object, at: number): Promise<void> => {
    const model = content()
    const session = open({ model, ahead: 0.5 }, { budget: 10_000, window })
    for (let index = 1; index <= at; index++) {
      await session.append(round(index))
      await session.context()
      await session.compaction.settled()
      expect([index, model.requests.length]).toEqual([index, index < at ? 0 : 1])
    }
  }

  it('begins at the share that is asked for, of a limit in tokens too', async () => {
    await begins({ max: { tokens: 600 } }, 4)
  })

  // Known: what may still come is reckoned in tokens of the whole budget, so that nothing is left
  // for the summary.
  it('begins at that share of a limit in rounds', async () => {
    await begins({ max: { rounds: 8 } }, 4)
  })

  it('begins at that share of a limit in messages', async () => {
    await begins({ max: { messages: 16 } }, 4)
  })

  it('a summary that was not ready in time is waited for, not written again', async () => {
    const { model, release } = held()
    const session = open({ model, ahead: 0.8 })
    let index = 0
    for (; model.requests.length === 0; index++) {
      await session.append(round(index))
      await session.context()
    }
    await session.append([...round(index), ...round(index + 1), ...round(index + 2)])
    const pending = session.context()
    await new Promise((resolve) => setTimeout(resolve, 5))
    expect(model.requests.length).toBe(1)
    release()
    const context = await pending
    expect(context.receipt.summary?.place).toBe(1)
    expect(context.receipt.omitted).toEqual([])
  })

  it('a session that is closed while it is written fails nobody', async () => {
    const { model, release } = held()
    const session = open({ model, ahead: 0.8 })
    for (let index = 0; model.requests.length === 0; index++) {
      await session.append(round(index))
      await session.context()
    }
    await session.close()
    release()
    await session.compaction.settled()
  })
})

describe('compactions do not thrash', () => {
  const step = (index: number, size: number): MessageInput[] => [
    {
      role: 'assistant',
      content: [{ type: 'tool-call', id: `c${index}`, name: 'read', input: { index } }],
    },
    {
      role: 'tool',
      content: [{ type: 'tool-result', callId: `c${index}`, output: filler.repeat(size) }],
    },
  ]
  /** Steps of one round, with a context after each. */
  const work = async (session: ReturnType<typeof open>, steps: number, size: number): Promise<number> => {
    const epochs = new Set<string>()
    await session.append({ role: 'user', content: 'Go' })
    for (let index = 0; index < steps; index++) {
      await session.append(step(index, size))
      epochs.add((await session.context()).epoch)
      await session.compaction.settled()
    }
    return epochs.size
  }

  it('over 200 steps with a fixed overhead above what is kept (anthropics/claude-code#94481)', async () => {
    for (const ahead of [false, 0.8] as const) {
      const model = content()
      const session = open({ model, ahead }, { system: 'x'.repeat(2_400) })
      const epochs = await work(session, 200, 2)
      expect(model.requests.length).toBeLessThanOrEqual(epochs)
      expect(epochs).toBeLessThanOrEqual(40)
    }
  })

  it('where no summary has room: it is refused with the reason, and no model is asked (MoonshotAI/kimi-code#2498)', async () => {
    const model = content()
    const session = open({ model, ahead: 0.8 }, { system: 'x'.repeat(3_760) })
    const events = eventsOf(session)
    await work(session, 60, 1)
    expect(model.requests.length).toBe(0)
    expect(events.length).toBeGreaterThan(0)
    for (const { status, reasons } of events) {
      expect(status).toBe('refused')
      expect(reasons.join()).toMatch(
        /^no \d+ tokens are left for a summary beside the least window$|^-?\d+ tokens are left for it, its pins and its frame need \d+$/,
      )
    }
  })

  it('never two in a row for one cause: a window that slides at each step is summarised every other time', async () => {
    const model = content()
    const session = open({ model }, { window: { max: { messages: 3 }, keep: { messages: 3 } } })
    const events = eventsOf(session)
    await work(session, 30, 2)
    const statuses = events.map(({ status }) => status)
    expect(statuses.some((one, index) => one === 'summarised' && statuses[index + 1] === one)).toBe(false)
    const refused = events.filter(({ status }) => status === 'refused')
    expect(refused.length).toBeGreaterThan(5)
    for (const { reasons } of refused)
      expect(reasons[0]).toMatch(/^the epoch before began for the same cause/)
  })
})

describe('the events', () => {
  it('tell what became of each compaction, and stop with their listener', async () => {
    const session = open({ model: content() })
    const events: unknown[] = []
    const stop = session.compaction.subscribe((event) => events.push(event))
    session.compaction.subscribe(() => {
      throw new Error('an observer')
    })
    const { context, next } = await untilSummary(session)
    const { sections } = context.receipt
    const used = sections.reduce((sum, { name, tokens }) => (name === 'tail' ? sum : sum + tokens), 0)
    expect(events).toEqual([
      {
        type: 'compact',
        status: 'summarised',
        cause: cause(context),
        tokensBefore: expect.any(Number),
        tokensAfter: used,
        summaryCount: 1,
        by: 'summariser',
        reasons: [],
      },
    ])
    expect((events[0] as { tokensBefore: number }).tokensBefore).toBeGreaterThan(900)
    stop()
    await untilSummary(session, next)
    expect(events.length).toBe(1)
  })

  it('tell of one that was written ahead once an epoch shows it', async () => {
    const session = open({ model: content('They must.'), ahead: 0.8 })
    const events = eventsOf(session)
    for (let index = 0; index < 14; index++) {
      await session.append([...round(index), { role: 'user', content: 'Go on' }])
      const context = await session.context()
      await session.compaction.settled()
      expect(events.length).toBe(context.receipt.summary ? 1 : 0)
      if (context.receipt.summary) break
    }
    expect(events).toMatchObject([
      {
        status: 'summarised',
        by: 'extract',
        reasons: Array(2).fill('it says “must”, its source does not'),
      },
    ])
  })
})

describe('what a compaction keeps', () => {
  it('is widened to the border of a step: three messages are a step and what belongs to it', async () => {
    const session = open({ model: content() }, { window: { max: { messages: 9 }, keep: { messages: 3 } } })
    await session.append({ id: 'q', role: 'user', content: 'Go' })
    for (let index = 0; index < 5; index++)
      await session.append([
        {
          id: `c${index}`,
          role: 'assistant',
          content: ['a', 'b'].map((id) => ({ type: 'tool-call', id, name: 'read', input: {} })),
        },
        { id: `r${index}a`, role: 'tool', content: [{ type: 'tool-result', callId: 'a', output: 'found' }] },
        { id: `r${index}b`, role: 'tool', content: [{ type: 'tool-result', callId: 'b', output: 'found' }] },
      ])
    const context = await session.context()
    expect(shown(context)).toEqual([context.receipt.summary?.id, 'q', 'c4', 'r4a', 'r4b'])
    expect(context.receipt.summary?.covers).toEqual([{ from: 'c0', to: 'r3b', count: 12 }])
  })

  it('is the newest question word for word, unless it does not fit beside its newest step', async () => {
    for (const [length, isFolded] of [
      [300, false],
      [940, true],
    ] as const) {
      const session = open({ model: content() })
      await session.append({ id: 'q', role: 'user', content: 'word '.repeat((length * 4) / 5) })
      await session.context()
      let context: Context | undefined
      for (let index = 0; index < 30 && !context?.receipt.summary; index++) {
        await session.append([
          { role: 'assistant', content: [{ type: 'tool-call', id: 'a', name: 'read', input: {} }] },
          { role: 'tool', content: [{ type: 'tool-result', callId: 'a', output: filler.repeat(3) }] },
        ] as MessageInput[])
        context = await session.context()
      }
      expect(context?.receipt.summary).toBeDefined()
      expect(shown(context as Context).includes('q')).toBe(!isFolded)
    }
  })

  it('without a model is the same for everyone, byte by byte', async () => {
    const hashes = await Promise.all(
      [1, 2].map(async () => {
        const session = open({})
        const hashes: string[] = []
        for (let index = 0; index < 30; index++) {
          await session.append(round(index, `See src/file${index}.ts.`))
          hashes.push((await session.context()).hash)
        }
        return hashes
      }),
    )
    expect(hashes[0]).toEqual(hashes[1])
  })
})

describe('what was sent with a summary', () => {
  it('is built again, and verified, long after', async () => {
    const session = open({ model: summariser((_, call) => `Part ${call}.`) })
    const sent = new Map<string, Context>()
    for (let index = 0; index < 40; index++) {
      await session.append(round(index))
      sent.set(`a${index}`, await session.context())
    }
    await session.append({ role: 'user', content: 'Go on.' })
    for (const [id, { epoch, blocks, receipt }] of sent) {
      const past = await contextAt(session, id)
      expect(past).toMatchObject({ verified: true, context: { epoch } })
      expect(memoryOf(past.context)).toBe(memoryOf({ blocks }))
      expect(past.context.receipt.summary).toEqual(receipt.summary)
    }
  })
})

describe('forgetting', () => {
  const forget = (store: Store, id: string) =>
    store
      .open(scope)
      .commit([sealOp({ kind: 'delete', opId: `forget ${id}`, target: `entry:${id}` })], decide)

  it('a message empties the summaries that were written from it, and the next context shows none', async () => {
    const store = mapStore()
    const model = summariser((_, call) => `Secret, part ${call}.`)
    const session = open({ model }, {}, store)
    const first = await untilSummary(session)
    const second = await untilSummary(session, first.next)
    expect(memoryOf(second.context)).toContain('Secret, part 2.')
    await forget(store, 'q0')
    expect(await summariesIn(store)).toEqual([])
    for (const one of [session, open({}, {}, store)]) {
      const context = await one.context()
      expect(cause(context)).toBe('forget')
      // The rest is summarised again, from the messages that are left.
      expect(memoryOf(context)).toContain('Secret, part 3.')
      expect(memoryOf(context)).not.toMatch(/part [12]/)
      expectAllAccounted(context, await idsIn(store))
    }
    expect(model.requests[2]).toContain('Question 1.')
    expect(model.requests[2]).not.toMatch(/Question 0\.|part [12]/)
    const past = await contextAt(session, `a${first.next}`)
    expect(past).toMatchObject({ verified: false, reason: 'forgotten' })
    expect(JSON.stringify((await store.open(scope).registers('')).map(({ body }) => body))).not.toMatch(
      /part [12]/,
    )
    // It goes on, and starts over.
    const third = await untilSummary(session, second.next)
    expect(memoryOf(third.context)).toContain('[summary #4 ')
  })

  it('a message that no summary covers leaves it', async () => {
    const store = mapStore()
    const session = open({ model: content() }, {}, store)
    const { context } = await untilSummary(session)
    await forget(store, shown(context)[1] ?? '')
    expect((await session.context()).receipt.summary?.id).toBe(context.receipt.summary?.id)
  })
})

describe('a rewind into what a summary covers', () => {
  it('drops it: what was taken back is not summarised; an undo brings no message back twice', async () => {
    const store = mapStore()
    const session = open({ model: content('Secret plans.') }, {}, store)
    const { next } = await untilSummary(session)
    await rewind(session, 'q3')
    const context = await session.context()
    expect(cause(context)).toBe('rewind')
    expect(memoryOf(context)).toBe('')
    expect(shown(context).every((id) => !['q3', 'a3', 'q4'].includes(id))).toBe(true)
    expectAllAccounted(context, await idsIn(store))
    await undo(session)
    const undone = await session.context()
    expectAllAccounted(undone, await idsIn(store))
    expect(shown(undone).at(-1)).toBe(`a${next - 1}`)
  })
})

describe('a store that cannot write summaries', () => {
  it('stops nothing: the context says what it leaves out, and the event why', async () => {
    const store = changedStore(mapStore(), (inner) => ({
      commit: async (ops, decide) => {
        if (ops.some(({ envelope }) => envelope.mark === 'summary')) throw new Error('disk full')
        return inner.commit(ops, decide)
      },
    }))
    const session = open({ model: content() }, {}, store)
    const events = eventsOf(session)
    for (let index = 0; index < 30; index++) {
      await session.append(round(index))
      const { receipt } = await session.context()
      expect(receipt.summary).toBeUndefined()
    }
    expect(events.length).toBeGreaterThan(0)
    for (const { status, reasons } of events) {
      expect(status).toBe('refused')
      expect(reasons.at(-1)).toMatch(
        /^(?:it could not be stored: disk full|the last summary could not be stored)$/,
      )
    }
  })
})

describe('sizes', () => {
  it('are checked', () => {
    for (const [compaction, argument] of [
      [{ summaryTokens: 0 }, 'summaryTokens'],
      [{ summaryTokens: 1.5 }, 'summaryTokens'],
      [{ carryTokens: -1 }, 'carryTokens'],
    ] as const) {
      let error: unknown
      try {
        open(compaction)
      } catch (caught) {
        error = caught
      }
      expect(error).toMatchObject({ code: 'ERR_INVALID_ARGUMENT', argument })
    }
  })

  it('of the summary and its names are what the section takes at most', async () => {
    const session = open({ model: content('word '.repeat(50)), summaryTokens: 40, carryTokens: 20 })
    const { context } = await untilSummary(
      session,
      0,
      (index) => `See src/a_long_name_of_a_file_${index}.ts.`,
    )
    const memory = context.receipt.sections.find(({ name }) => name === 'memory')
    expect(memory?.tokens).toBeLessThanOrEqual(40 + 20 + 24)
    expect(context.receipt.summary?.lost.count).toBeGreaterThan(0)
    expect(context.receipt.summary?.by).toBe('extract')
  })
})

describe('in the long run', () => {
  it('a large tail, once, drops a summary for that call only', async () => {
    const session = open({ model: content() })
    const { context, next } = await untilSummary(session)
    const { receipt } = await session.context({ tail: 'x'.repeat(3_600) })
    expect(receipt.summary).toBeUndefined()
    await session.append(round(next))
    const after = await session.context()
    expect(after.receipt.summary?.place).toBeGreaterThanOrEqual(context.receipt.summary?.place ?? 0)
    expect(after.receipt.omitted).toEqual([])
    expect((await session.context()).hash).toBe(after.hash)
  })

  it('a window that slides at each step is summarised now and then', async () => {
    const session = open({ model: content() }, { window: { max: { rounds: 2 }, keep: { rounds: 2 } } })
    let context: Context | undefined
    for (let index = 0; index < 20; index++) {
      await session.append([{ role: 'user', content: `Question ${index}` }])
      context = await session.context()
    }
    expect(context?.receipt.summary?.place).toBeGreaterThan(1)
  })

  it('a store that can write no mark costs a model call now and then, not at each step', async () => {
    const store = changedStore(mapStore(), (inner) => ({
      commit: async (ops, decide) => {
        if (ops.some(({ envelope }) => envelope.mark)) throw new Error('disk full')
        return inner.commit(ops, decide)
      },
    }))
    const model = content()
    const session = open({ model }, {}, store)
    for (let index = 0; index < 30; index++) {
      await session.append(round(index))
      await session.context()
    }
    expect(model.requests.length).toBeLessThan(10)
  })

  // Its place in the log is after the summary's end: `count` and `skipped` are places, not numbers
  // of messages.
  it('the tag says how many messages it stands for where writers interleave', async () => {
    const session = open({ model: content() }, { window: { max: { messages: 9 }, keep: { messages: 4 } } })
    const call = (id: string): MessageInput => ({
      id,
      role: 'assistant',
      content: [{ type: 'tool-call', id: 'c1', name: 'read', input: {} }],
    })
    const result = (id: string): MessageInput => ({
      id,
      role: 'tool',
      content: [{ type: 'tool-result', callId: 'c1', output: 'found' }],
    })
    const first = call('m1')
    await session.append(first)
    await rewind(session, 'm1')
    await session.append(call('m2'))
    await session.append({ id: 'm3', role: 'user', content: 'Go' })
    await session.append(result('m4'))
    await session.append(call('m5'), { round: 'm2' })
    await session.context({ onPending: 'abandon' })
    await session.append({ id: 'm6', role: 'assistant', content: 'Looks good' }, { round: 'm3' })
    await undo(session)
    await session.append({ id: 'm7', role: 'user', content: 'Go on' })
    await session.context()
    await session.append(result('m8'), { round: 'm2' })
    await session.append({ id: 'm9', role: 'user', content: 'And now?' })
    const context = await session.context({ newEpoch: true })
    expect(memoryOf(context)).toMatch(/\[summary #\d+ of \d+ earlier messages\]/)
    const covered = context.receipt.summary?.covers.reduce((sum, { count }) => sum + count, 0)
    expect(memoryOf(context)).toContain(` of ${covered} earlier messages]`)
  })
})

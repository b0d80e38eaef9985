import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  type Context,
  charsPerToken,
  isPlimsollError,
  type LogRow,
  type MessageInput,
  mapStore,
  utf8Bound,
} from '../../src/index.ts'
import { contextAt } from '../../src/operations/context-at.ts'
import { forget } from '../../src/operations/forget/forget.ts'
import { rewind, undo } from '../../src/operations/rewind.ts'
import { type FullMemoryOptions, type FullSession, fullMemory } from '../contract/full-memory.ts'
import { runs } from './support/runs.ts'

type Options = Omit<FullMemoryOptions, 'store'>
type Action =
  | { readonly type: 'append'; readonly tab: 0 | 1; readonly message: MessageInput; readonly place?: number }
  | { readonly type: 'rewind' | 'forget'; readonly tab: 0 | 1; readonly place: number }
  | { readonly type: 'undo'; readonly tab: 0 | 1 }
  | { readonly type: 'context'; readonly tab: 0 | 1; readonly preview: boolean; readonly newEpoch: boolean }

const SCOPE = { userId: 'ada', sessionId: 'trip' }
const tab = fc.constantFrom(0 as const, 1 as const)
const place = fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true })
const text = fc.constantFrom('Yes.', 'The train to Turin leaves at nine.', 'x'.repeat(120), 'y'.repeat(900))
const message: fc.Arbitrary<MessageInput> = fc.oneof(
  { weight: 4, arbitrary: text.map((content): MessageInput => ({ role: 'user', content })) },
  { weight: 4, arbitrary: text.map((content): MessageInput => ({ role: 'assistant', content })) },
  { weight: 1, arbitrary: fc.constant<MessageInput>({ role: 'system', content: 'A note.' }) },
  {
    weight: 1,
    arbitrary: fc.constant<MessageInput>({
      role: 'assistant',
      content: [{ type: 'tool-call', id: 'c', name: 'find', input: {} }],
    }),
  },
  {
    weight: 1,
    arbitrary: fc.constant<MessageInput>({
      role: 'tool',
      content: [{ type: 'tool-result', callId: 'c', output: 'found' }],
    }),
  },
)
const actions: fc.Arbitrary<readonly Action[]> = fc.array(
  fc.oneof(
    {
      weight: 8,
      arbitrary: fc.record(
        { type: fc.constant('append' as const), tab, message, place },
        { requiredKeys: ['type', 'tab', 'message'] },
      ),
    },
    { weight: 4, arbitrary: fc.record({ type: fc.constantFrom('rewind' as const, 'forget'), tab, place }) },
    { weight: 1, arbitrary: fc.record({ type: fc.constant('undo' as const), tab }) },
    {
      weight: 6,
      arbitrary: fc.record({
        type: fc.constant('context' as const),
        tab,
        preview: fc.boolean(),
        newEpoch: fc.boolean(),
      }),
    },
  ),
  { minLength: 4, maxLength: 40, size: 'max' },
)
const policies: fc.Arbitrary<Options> = fc.record(
  {
    budget: fc.constantFrom(400, 600, 1_200, 4_000),
    counter: fc.constantFrom(charsPerToken(4), utf8Bound),
    window: fc.constantFrom(
      {},
      { max: { rounds: 2 }, keep: { rounds: 1 } },
      { max: { messages: 3 }, keep: { messages: 1 } },
      { max: { rounds: 4 }, keep: { rounds: 1 } },
    ),
    compaction: fc.constant({}),
  },
  { requiredKeys: ['budget', 'counter'] },
)

/** Two tabs over one store, and what they did; a cold session says what is there. */
class Tabs {
  readonly #options: FullMemoryOptions
  readonly #tabs: readonly FullSession[]
  #ids = 0

  constructor(options: Options) {
    const store = mapStore()
    this.#options = { ...options, store, clock: () => 0, newId: () => `id-${++this.#ids}` }
    this.#tabs = [this.open(), this.open()]
  }

  open(options: Partial<Options> = {}): FullSession {
    return fullMemory({ ...this.#options, ...options }).session(SCOPE)
  }

  async play(
    list: readonly Action[],
    check: (context: Context | undefined, session: FullSession) => Promise<void>,
  ): Promise<void> {
    for (const action of list) {
      const session = this.#tabs[action.tab] as FullSession
      const live = await this.open().history({ messages: 10_000 })
      const chosen = 'place' in action ? live[Math.floor((action.place ?? 0) * live.length)] : undefined
      if (action.type === 'append') {
        const all = await this.messages()
        // A late writer may name a round that was rewound meanwhile.
        const joined = action.place === undefined ? undefined : all.at(-1 - Math.floor(action.place * 3))
        const isOpening = action.message.role === 'user' || joined?.round === undefined
        await session.append(action.message, isOpening ? {} : { round: joined.round })
      } else if (action.type === 'rewind' && chosen) await rewind(session, chosen.id)
      else if (action.type === 'forget' && chosen) await forget(session, chosen.id)
      else if (action.type === 'undo') await undo(session).catch(unless('ERR_NOT_FOUND'))
      else if (action.type === 'context') {
        const { preview, newEpoch } = action
        const context = await session
          .context({ preview, newEpoch })
          .catch(unless('ERR_BUDGET_TOO_SMALL', 'ERR_TOOL_PENDING'))
        await check(context ?? undefined, session)
      }
    }
  }

  async messages(): Promise<readonly LogRow[]> {
    return (await this.rows()).filter(({ kind }) => kind === 'message')
  }

  /** The log, in its order. */
  async rows(): Promise<readonly LogRow[]> {
    const rows: LogRow[] = []
    for (let seq = 0; ; ) {
      const page = await this.#options.store.open(SCOPE).changesSince(seq)
      rows.push(...page.rows)
      seq = page.rows.at(-1)?.seq ?? seq
      if (!page.more) return rows
    }
  }
}

function unless(...codes: Parameters<typeof isPlimsollError>[1][]): (error: unknown) => undefined {
  return (error) => {
    if (!codes.some((code) => isPlimsollError(error, code))) throw error
    return undefined
  }
}

const bare = policies.map(({ compaction: _, ...options }): Options => options)

function forAll(
  check: (tabs: Tabs) => (context: Context | undefined, session: FullSession) => Promise<void>,
  settings = policies,
) {
  return fc.assert(
    fc.asyncProperty(settings, actions, async (options, list) => {
      const tabs = new Tabs(options)
      await tabs.play(list, check(tabs))
    }),
    runs(150),
  )
}

describe('what a context shows', () => {
  it('is never empty of conversation where a live message fits that no summary stands for', async () => {
    await forAll((tabs) => async (context) => {
      if (!context) return
      const live = (await tabs.open().history({ messages: 10_000 })).map(({ id }) => id)
      const shown = context.blocks.filter(({ section }) => section === 'window').flatMap(({ from }) => from)
      const { summary } = context.receipt
      const rows = await tabs.rows()
      const seen = rows.find(({ id }) => id === summary?.id)
      // Whatever its writer had read and left to no window is in the summary.
      const read = seen
        ? rows.findIndex(({ id }) => id === (JSON.parse(seen.body ?? '{}') as { seen?: string }).seen)
        : -1
      const uncovered = live.filter((id) => rows.findIndex((row) => row.id === id) > read)
      if (uncovered.length > 0) expect(shown.length).toBeGreaterThan(0)
    })
  })

  it('holds whatever its receipt names', async () => {
    await forAll(() => async (context) => {
      if (!context) return
      const { summary, sections } = context.receipt
      const memory = context.blocks.filter(({ section }) => section === 'memory')
      if (summary) expect(memory.flatMap(({ from }) => from)).toContain(summary.id)
      for (const { name, items } of sections)
        if (name !== 'tools')
          expect(context.blocks.filter(({ section }) => section === name).length).toBe(items)
    })
  })

  it('and whether it waits for results does not depend on what is in memory', async () => {
    // A summary may stand for the call that waits, in its own lane alone.
    await forAll(
      (tabs) => async (context, session) => {
        const waits = (one: FullSession): Promise<boolean> =>
          one.context({ preview: true }).then(
            () => false,
            (error) => isPlimsollError(error, 'ERR_TOOL_PENDING'),
          )
        const warm = await waits(session)
        expect(await waits(tabs.open())).toBe(warm)
        expect(await waits(tabs.open({ budget: 5_000, window: {} }))).toBe(warm)
        if (context) expect(warm).toBe(false)
      },
      bare,
    )
  })

  it('is rebuilt from the log as it was, once something followed it', async () => {
    await forAll((tabs) => async (context, session) => {
      if (!context || context.receipt.epoch === 'preview') return
      const newest = (await tabs.messages()).at(-1)
      if (!newest || context.receipt.epoch === 'unsaved') return
      const at = await contextAt(session, newest.id).catch(unless('ERR_NOT_FOUND'))
      if (at && !at.verified) expect(['unrecorded', 'forgotten']).toContain(at.reason)
    })
  })
})

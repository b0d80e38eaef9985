import { describe, expect, it } from 'vitest'
import {
  type Context,
  charsPerToken,
  diffContexts,
  explain,
  lintPrefix,
  mapStore,
  toAnthropic,
  toOpenAI,
} from '../../src/index.ts'
import { rewind } from '../../src/operations/rewind.ts'
import { type FullSession, fullMemory } from '../contract/full-memory.ts'

const system = 'You are a travel agent.'
type Options = Omit<Parameters<typeof fullMemory>[0], 'store'>

function open(options: Partial<Options> = {}, store = mapStore()): FullSession {
  return fullMemory({ store, system, budget: 2_000, ...options }).session({ userId: 'ada' })
}

async function say(session: FullSession, ...texts: readonly string[]): Promise<void> {
  for (const [index, content] of texts.entries())
    await session.append({ role: index % 2 === 0 ? 'user' : 'assistant', content })
}

/** The diff of the contexts before and after something happens. */
async function between(
  session: FullSession,
  happens: () => Promise<unknown>,
  next: () => Promise<Context> = () => session.context(),
) {
  const before = await session.context()
  await happens()
  const now = await next()
  return { before, now, diff: diffContexts(before, now) }
}

const sum = ({ tokens }: ReturnType<typeof diffContexts>): number =>
  tokens.shared + tokens.rebilled + tokens.added

describe('the diff of two contexts', () => {
  it('is none where the second begins with the first: only what is new is paid', async () => {
    const session = open()
    await say(session, 'Hi.')
    const { before, now, diff } = await between(session, () =>
      session.append([
        { role: 'assistant', content: 'Hello.' },
        { role: 'user', content: 'Two seats to Turin.' },
      ]),
    )
    expect(diff).toMatchObject({ provider: 'openai', cause: 'none' })
    expect(diff.divergence).toBeUndefined()
    expect(diff.tokens).toEqual({
      shared: before.receipt.used,
      rebilled: 0,
      added: now.receipt.used - before.receipt.used,
    })
  })

  it('is none for one context and itself, for both providers', async () => {
    const session = open()
    await say(session, 'Hi.')
    const context = await session.context({ tail: 'Monday.' })
    for (const provider of ['openai', 'anthropic'] as const)
      expect(diffContexts(context, context, provider)).toEqual({
        provider,
        cause: 'none',
        tokens: { shared: context.receipt.used, rebilled: 0, added: 0 },
      })
  })

  it('is the tail where only that changed, and nothing is paid twice', async () => {
    const session = open()
    await say(session, 'Hi.')
    const monday = await session.context({ tail: 'It is Monday.' })
    await session.append([
      { role: 'assistant', content: 'Hello.' },
      { role: 'user', content: 'Bye.' },
    ])
    const tuesday = await session.context({ tail: 'It is Tuesday.' })
    for (const provider of ['openai', 'anthropic'] as const) {
      const { cause, divergence, tokens } = diffContexts(monday, tuesday, provider)
      expect(cause).toBe('tail')
      expect(divergence?.before?.section).toBe('tail')
      expect(tokens.rebilled).toBe(0)
    }
  })

  it('names the first byte that differs, in UTF-8', async () => {
    const contexts = await Promise.all(
      ['Zürich 漢字 🚆 A', 'Zürich 漢字 🚆 B'].map(async (text) => {
        const session = open({ system: text })
        await say(session, 'Hi.')
        return session.context()
      }),
    )
    const [a, b] = contexts as [Context, Context]
    const { divergence } = diffContexts(a, b)
    const [one, other] = [a, b].map((context) => new TextEncoder().encode(JSON.stringify(toOpenAI(context))))
    let byte = 0
    while (one?.[byte] === other?.[byte]) byte++
    expect(divergence?.byte).toBe(byte)
    expect(divergence?.after).toMatchObject({ section: 'system', rule: 'system' })
    expect(explain(b).text.slice(divergence?.index)).toMatch(/^B/)
  })

  it('names the whole character where its last half differs', async () => {
    const [a, b] = (await Promise.all(
      ['🚆', '🚇'].map(async (text) => {
        const session = open()
        await session.append({ id: 'm1', role: 'user', content: text, createdAt: 0 })
        return session.context()
      }),
    )) as [Context, Context]
    const { divergence } = diffContexts(a, b)
    expect(explain(b).text.slice(divergence?.index)).toMatch(/^🚇/)
    expect(divergence?.byte).toBe(Buffer.byteLength(explain(b).text.slice(0, divergence?.index)))
  })

  it('gives the cause of the epoch, and what is paid once more', async () => {
    const session = open({
      budget: 500,
      counter: charsPerToken(4),
      window: { max: { rounds: 3 }, keep: { rounds: 2 } },
    })
    await session.context()
    for (let round = 0; round < 3; round++) await say(session, `Question ${round}?`, `Answer ${round}.`)
    const { diff, now } = await between(session, () => say(session, 'Question 3?', 'Answer 3.'))
    expect(now.receipt.epoch).toMatchObject({ cause: 'window' })
    expect(diff.cause).toBe('window')
    expect(diff.divergence?.before?.section).toBe('window')
    // One round of the first request is still shown, as it was; the newest one is new.
    const kept = now.blocks.filter(({ section }) => section === 'window').slice(0, 2)
    const paid = kept.reduce((tokens, block) => tokens + block.tokens, 0)
    // What the first one's message has in common with the one that stood there before counts as
    // shared.
    expect(diff.tokens.rebilled).toBeGreaterThan(paid / 2)
    expect(diff.tokens.rebilled).toBeLessThanOrEqual(paid)
    expect(sum(diff)).toBe(now.receipt.used)
  })

  it('gives the cause rewind, manual, and head with the section that changed', async () => {
    const store = mapStore()
    const session = open({}, store)
    await say(session, 'Hi.', 'Hello.', 'Bye.')
    const { messages } = session.getSnapshot()
    await session.context()
    const last = messages.at(-1) ?? (await session.history()).at(-1)
    const rewound = await between(session, async () => {
      await rewind(session, last?.id ?? '')
      await say(session, 'No, stay.')
    })
    expect(rewound.diff).toMatchObject({ cause: 'rewind', divergence: { before: { section: 'window' } } })

    const tools = [{ name: 'clock', inputSchema: { type: 'object' } }]
    const told = await between(
      session,
      async () => {},
      () => session.context({ tools }),
    )
    expect(told.diff).toMatchObject({ cause: 'head', divergence: { after: { section: 'tools' } } })

    const brief = open({ system: 'Be brief.' }, store)
    const instructed = diffContexts(await session.context(), await brief.context())
    expect(instructed).toMatchObject({ cause: 'head', divergence: { after: { section: 'system' } } })
    expect(sum(instructed)).toBe((await brief.context()).receipt.used)
  })

  it('says lane where the settings differ, and preview where nothing was saved', async () => {
    const store = mapStore()
    const session = open({}, store)
    await say(session, 'Hi.')
    const other = open({ budget: 3_000, system: 'Be brief.' }, store)
    expect(diffContexts(await session.context(), await other.context()).cause).toBe('lane')
    const seen = await session.context()
    const preview = await session.context({ tools: [{ name: 'clock', inputSchema: {} }], preview: true })
    expect(diffContexts(seen, preview).cause).toBe('preview')
  })

  it('does not take a cache mark that moves for a difference', async () => {
    const session = open()
    await say(session, 'Hi.')
    const { before, now } = await between(session, async () => {
      for (const content of ['Two seats to Turin.', 'And one back.'])
        await session.append([
          { role: 'assistant', content: 'Hello.' },
          { role: 'user', content },
        ])
    })
    expect(JSON.stringify(toAnthropic(now))).toContain('cache_control')
    expect(
      JSON.stringify(toAnthropic(now)).startsWith(JSON.stringify(toAnthropic(before)).slice(0, -4)),
    ).toBe(false)
    expect(diffContexts(before, now, 'anthropic').cause).toBe('none')
  })
})

describe('the lint of a prefix', () => {
  /** A context of the same log, built again under another clock and other ids. */
  async function built(options: Partial<Options>, tail: string): Promise<Context> {
    const session = open(options)
    await session.append([
      { id: 'a', role: 'user', content: 'Hi.', createdAt: 0 },
      { id: 'b', role: 'assistant', content: 'Hello.', createdAt: 0 },
      { id: 'c', role: 'user', content: 'Bye.', createdAt: 0 },
    ])
    return session.context({ tail })
  }

  it('finds nothing where only the tail differs', async () => {
    const a = await built({ clock: () => 1, newId: () => 'x1' }, 'It is 9:40.')
    const b = await built({ clock: () => 2, newId: () => 'x2' }, 'It is 9:41.')
    for (const provider of ['openai', 'anthropic'] as const) expect(lintPrefix(a, b, provider)).toEqual([])
  })

  it('finds a system text with the time in it, and says where', async () => {
    const at = (now: number): Partial<Options> => ({
      clock: () => now,
      system: `You are an agent. It is ${now}.`,
    })
    const problems = lintPrefix(await built(at(1), ''), await built(at(2), ''))
    expect(problems).toEqual([
      {
        rule: 'unstable-prefix',
        path: 'system',
        message: expect.stringMatching(
          /^two builds of one context differ at byte \d+, in system \(head\/\w+\)$/,
        ),
      },
    ])
  })

  it('finds a block that changes between two builds of one epoch', async () => {
    const a = await built({}, '')
    const blocks = a.blocks.map((block) =>
      block.rule === 'verbatim' ? { ...block, parts: [{ type: 'text' as const, text: 'Now.' }] } : block,
    )
    const b = { ...a, blocks }
    expect(diffContexts(a, b).cause).toBe('unexplained')
    expect(lintPrefix(a, b)).toMatchObject([{ rule: 'unstable-prefix', path: 'window' }])
  })
})

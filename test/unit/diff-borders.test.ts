import { expect, it } from 'vitest'
import {
  calibrated,
  charsPerToken,
  diffContexts,
  explain,
  lintPrefix,
  type MessageInput,
  mapStore,
  toAnthropic,
  toOpenAI,
  utf8Bound,
} from '../../src/index.ts'
import { rewind } from '../../src/operations/rewind.ts'
import { fullMemory } from '../contract/full-memory.ts'
import { contextOf, searchTool, system, user } from '../render/samples.ts'

const open = (o: object = {}, store = mapStore()) =>
  fullMemory({ store, system: 'You are a travel agent.', budget: 2_000, ...o }).session({ userId: 'ada' })
const u = (id: string, content: MessageInput['content']): MessageInput => ({
  id,
  role: 'user',
  content,
  createdAt: 0,
})
const a = (id: string, content: MessageInput['content']): MessageInput => ({
  id,
  role: 'assistant',
  content,
  createdAt: 0,
})
it('says rewind, not tail, where the second stops sooner and closes with words of its own', async () => {
  const s = open()
  await s.append([u('a', 'Hi.'), a('b', 'Hello.'), u('c', 'Bye.')])
  const before = await s.context()
  await rewind(s, 'c')
  expect(diffContexts(before, await s.context()).cause).toBe('rewind')
})
it('finds a message that only one of two builds has', async () => {
  const s = open()
  await s.append([u('a', 'Hi.'), a('b', 'Hello.'), u('c', 'Bye.')])
  const t = open()
  await t.append([u('a', 'Hi.'), a('b', 'Hello.')])
  expect(lintPrefix(await s.context({ tail: 'now' }), await t.context({ tail: 'now' }))).toMatchObject([
    { rule: 'unstable-prefix' },
  ])
})
it('shares no more than the first request had', async () => {
  const s = open({ counter: utf8Bound, budget: 20_000 })
  await s.append(u('a', 'Hi.'))
  const x = await s.context()
  await s.append([
    a('b', [{ type: 'media', mediaType: 'image/png', url: 'https://x.y/a.png', tokens: 1_600 }]),
    u('c', '?'),
  ])
  for (const p of ['openai', 'anthropic'] as const)
    expect(diffContexts(x, await s.context(), p).tokens.shared).toBe(x.receipt.used)
})
it('counts the unchanged system text behind changed tools as paid once more', async () => {
  const s = open({ system: 'You are a travel agent. '.repeat(20) })
  await s.append(u('a', 'Hi.'))
  const x = await s.context({ tools: [{ name: 'a', inputSchema: { type: 'object' } }] })
  const y = await s.context({ tools: [{ name: 'b', inputSchema: { type: 'object' } }] })
  expect(diffContexts(x, y).tokens.rebilled).toBeGreaterThan(100)
})
it('knows what was shown before, also where an epoch counts it in other tokens', async () => {
  const counter = calibrated(charsPerToken(4))
  const s = open({ counter, window: { max: { rounds: 4 }, keep: { rounds: 3 } } })
  await s.context()
  let x = await s.context()
  for (let i = 0; i < 4; i++) {
    await s.append([u(`q${i}`, `q${i} `.repeat(20)), a(`a${i}`, `a${i} `.repeat(20))])
    x = await s.context()
  }
  counter.report(x, Math.round(x.receipt.used * 1.3))
  await s.append([u('q9', 'q9 '.repeat(20)), a('a9', 'a9 '.repeat(20))])
  expect(diffContexts(x, await s.context()).tokens.rebilled).toBeGreaterThan(50)
})
const two = (one: string, other: string) =>
  [one, other].map((text) => contextOf([user(text)])) as [
    ReturnType<typeof contextOf>,
    ReturnType<typeof contextOf>,
  ]
it('names the character itself where the whole of it differs', () => {
  for (const [one, other] of [
    ['Ａ', '，'],
    ['🚆', '\u{10400}'],
  ] as const) {
    const [x, y] = two(one, other)
    const d = diffContexts(x, y)
    expect(explain(y).text.slice(d.divergence?.index).startsWith(other)).toBe(true)
  }
})
it('names the span that begins at the border where two requests part', () => {
  const x = contextOf([user('Hi.'), user('Bye.')]),
    y = contextOf([user('Hi.')])
  const from = x.blocks.map((b, i) => ({ ...b, from: [`m${i}`] }))
  expect(
    diffContexts({ ...x, blocks: from }, { ...y, blocks: from.slice(0, 1) }).divergence?.before?.records,
  ).toEqual(['m1'])
})
it('names no record where there is none', () => {
  const [x, y] = two('A', 'B')
  expect(lintPrefix(x, y)[0]?.message).toMatch(/in window$/)
})
it('pays once more for what a late message moved', () => {
  const blocks = [user('Hi.'), user('Bye.'), user('Late.')].map((b, i) => ({
    ...b,
    from: [`m${i}`],
    tokens: 1_000,
  }))
  const x = contextOf(blocks.slice(0, 2)),
    y = contextOf([blocks[0], blocks[2], blocks[1]] as typeof blocks)
  expect(diffContexts(x, y).tokens.rebilled).toBe(1_000)
})
it('takes an output that is cut shorter for new', async () => {
  const one = { ...user('row '.repeat(50)), from: ['m1'], tokens: 100 },
    cut = { ...user('row '.repeat(5)), from: ['m1'], tokens: 10, rule: 'capped' as const }
  const x = contextOf([user('Hi.'), { ...one, rule: 'capped' as const }]),
    y = contextOf([user('Ho.'), cut])
  expect(diffContexts(x, y).tokens).toMatchObject({ rebilled: 0, added: 10 })
})
it('tiles a request without any message, with tools and a head alone', () => {
  for (const provider of ['openai', 'anthropic'] as const) {
    const c = contextOf([system('x')].slice(provider === 'openai' ? 1 : 0), [
      { ...searchTool, inputSchema: { type: 'object', title: undefined } as never },
    ])
    const { text, spans } = explain({ ...c, receipt: { ...c.receipt, used: 3 } }, provider)
    expect(text).toBe(JSON.stringify(provider === 'openai' ? toOpenAI(c) : toAnthropic(c)))
    expect(spans.reduce((n, { tokens }) => n + tokens, 0)).toBe(3)
    expect(spans.at(-1)?.section).toBe('request')
    expect(spans.filter(({ section }) => section !== 'window').every(({ trust }) => trust === 'system')).toBe(
      true,
    )
  }
})

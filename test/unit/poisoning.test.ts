import { beforeAll, describe, expect, it } from 'vitest'
import { lawChecker } from '../../src/assert-laws.ts'
import { extractFacts } from '../../src/features/extraction/extract-facts.ts'
import { visible } from '../../src/features/text/visible.ts'
import { isTrusted } from '../../src/features/trust.ts'
import {
  type AgentTool,
  type Context,
  type Json,
  lintRequest,
  mapStore,
  memoryTools,
  runAgent,
  type Store,
  scriptedModel,
  sessionStartGuide,
  toAnthropic,
  toOpenAI,
} from '../../src/index.ts'
import { lowerTrust, textOf } from '../../src/kernel/log/message.ts'
import { start as startSession } from '../../src/operations/start/start.ts'
import type { Fact } from '../../src/ports/fact.ts'
import { type FullMemory, type FullSession, fullMemory } from '../contract/full-memory.ts'
import { tool } from './agent/support.ts'
import { fencesIn } from './support/fences.ts'
import { hostileTexts, marker } from './support/hostile.ts'

const MARKED = /mallory\d+x/
const SYSTEM = `You are a travel agent.\n\n${sessionStartGuide}`
/** All that may ever stand in the system section. */
const TRUSTED = `${SYSTEM}\n\n## SOUL.md\n\nBe brief and kind.\n\n## Pinned\n\n- constraint: Never book a flight.`
const LABELS = new Set(['skills', 'facts', 'loaded-skills', 'data', 'recall', 'checkpoint', 'context'])
const CLAIM =
  /^- \[f\d{6}(?: · open)?\] (?:finding|blocker|correction|preference|constraint) \[(?:assistant|import|tool|web)(?:, doubtful)?\] /
const ADA = { userId: 'ada' }
const FACT_TOOLS = ['finding', 'blocker', 'correction', 'preference', 'constraint']

interface Story {
  readonly memory: FullMemory
  readonly session: FullSession
  /** All contexts, those of summaries included, with the fence of the epoch. */
  readonly contexts: readonly Context[]
  /** Facts below `user` as they were first seen, by id. */
  readonly first: ReadonlyMap<string, Fact>
  /** Facts that were seen at a higher trust than before. */
  readonly raised: readonly string[]
  readonly texts: readonly string[]
}

function open(store: Store, summary: () => string): FullMemory {
  const summariser = scriptedModel(() => summary(), { id: 'summariser' })
  return fullMemory({
    store,
    system: SYSTEM,
    budget: 6_000,
    laws: lawChecker,
    recall: {},
    compaction: { model: summariser, ahead: false },
    checkpoint: { excerptTokens: 200 },
    facts: { caps: { perHour: 10_000 } },
    extraction: { extract: (rounds) => extractFacts(rounds) },
  })
}

/**
 * The fences that the session's epochs will have: they derive from its name, its lane and their
 * place.
 */
async function fencesToCome(): Promise<readonly string[]> {
  const session = open(mapStore(), () => 'Nothing.').session({ ...ADA, sessionId: 'trip' })
  await session.append({ role: 'user', content: 'Hi.' })
  const tags: string[] = []
  for (let place = 0; place < 40; place++) tags.push((await session.context({ newEpoch: true })).fence)
  return [...new Set(tags)]
}

/** Each hostile text comes in by every way that there is, round after round. */
async function play(): Promise<Story> {
  const store = mapStore()
  const texts = hostileTexts(await fencesToCome())
  let text = ''
  const memory = open(store, () => `They spoke of trains. ${text}`)
  const user = memory.user(ADA)
  await user.profile.set('SOUL.md', 'Be brief and kind.')
  const session = memory.session({ ...ADA, sessionId: 'trip' })
  await session.facts.remember({ kind: 'constraint', text: 'Never book a flight.' })
  const reading = (trust: 'tool' | 'web'): AgentTool =>
    tool(`read_${trust}`, () => (trust === 'tool' ? { page: text, [text]: 1 } : text), { trust })
  const tools = [reading('tool'), reading('web'), ...memoryTools(session)]
  const contexts: Context[] = []
  const first = new Map<string, Fact>()
  const raised: string[] = []
  for (const [place, one] of texts.entries()) {
    text = one
    const call = (name: string, input: Json) => ({ name, input, id: `${text.slice(0, 40)}/${name}` })
    if (place < 12)
      await user.skills.set({ name: `skill-${place}`, description: text, text: `# Skill\n${text}` })
    await session.facts.remember({
      kind: 'finding',
      title: text,
      text: `Title of ${marker(place)}.`,
      trust: 'web',
    })
    await session.checkpoint.set({ note: text })
    await session.append({ role: 'system', content: text, trust: 'web' })
    await session.append({ role: 'user', content: text, trust: 'import', name: `eve-${place}` })
    const model = scriptedModel([
      { text, calls: [call('read_tool', {}), call('read_web', {})] },
      { text, calls: FACT_TOOLS.map((kind) => call(`memory_${kind}`, { text: text.slice(0, 600) })) },
      {
        calls: [
          call('memory_recall', { query: marker(place - 1) }),
          call('memory_read_source', { reference: '#3' }),
          call('skill_load', { name: `skill-${place % 12}` }),
          call('memory_forget', { fact: text.slice(0, 100) }),
        ],
      },
      { text, calls: [call('skill_unload', { name: `skill-${(place + 6) % 12}` })] },
      text,
    ])
    await runAgent({ input: 'Go on.', model, session, tools })
    contexts.push(...model.requests)
    contexts.push(await session.context({ recall: text, tail: text, newEpoch: place % 3 === 0 }))
    for (const fact of await session.facts.list({ all: true })) {
      const before = first.get(fact.id) ?? fact
      if (before.trust !== fact.trust && lowerTrust(before.trust, fact.trust) === before.trust)
        raised.push(fact.id)
      first.set(fact.id, before)
    }
  }
  return { memory, session, contexts, first, raised, texts }
}

describe('hostile texts that come in by every way', () => {
  let story: Story
  beforeAll(async () => {
    story = await play()
  }, 120_000)

  it('are many, and are shown in many epochs, as facts, recalled, summarised and in the window', () => {
    const { texts, contexts } = story
    expect(texts.length).toBeGreaterThanOrEqual(40)
    expect(texts.every((text) => MARKED.test(text))).toBe(true)
    expect(new Set(contexts.map(({ epoch }) => epoch)).size).toBeGreaterThan(20)
    const labels = new Set<string>()
    for (const { blocks, fence } of contexts)
      for (const block of blocks)
        if (block.section === 'memory' || block.rule === 'tail')
          for (const { label, body } of fencesIn(textOf({ content: block.parts }), fence) ?? [])
            if (MARKED.test(body)) labels.add(label)
    expect(labels).toEqual(LABELS)
  })

  it('never reach the system section, whatever the epoch and the provider', () => {
    for (const context of story.contexts) {
      const system = context.blocks.filter(({ section }) => section === 'system')
      expect(system.map((block) => textOf({ content: block.parts }))).toEqual([TRUSTED])
      const openai = toOpenAI(context)
      expect(openai.messages.filter(({ role }) => role === 'system')).toEqual([
        { role: 'system', content: TRUSTED },
      ])
      expect(toAnthropic(context).system?.map(({ text }) => text)).toEqual([TRUSTED])
      expect(lintRequest(openai, 'openai')).toEqual([])
      expect(lintRequest(toAnthropic(context), 'anthropic')).toEqual([])
    }
  })

  it('forge no fence: each one that opens closes once and in order, and holds the tag nowhere', () => {
    for (const { blocks, fence } of story.contexts)
      for (const block of blocks) {
        if (block.section !== 'memory' && block.rule !== 'tail') continue
        const fences = fencesIn(textOf({ content: block.parts }), fence)
        expect(fences?.map(({ label }) => LABELS.has(label))).not.toContain(false)
        const names = fences?.map(({ label }) => label) ?? []
        expect(new Set(names).size).toBe(names.length)
        for (const { label, body } of fences ?? [])
          if (label === 'data') expect(body.split('[summary #')).toHaveLength(2)
      }
  })

  it('look like no fence of any epoch where they show as they were said, nor in what is rendered', () => {
    const tag = /<\/?ctx-[0-9a-f]{8}/
    let broken = 0
    for (const context of story.contexts) {
      for (const { section, rule, parts } of context.blocks) {
        if (section === 'memory' || rule === 'tail') continue
        expect(JSON.stringify(parts)).not.toMatch(tag)
        if (JSON.stringify(parts).includes('<ctx_')) broken++
      }
      const { fence } = context
      const request = JSON.stringify(toOpenAI(context))
      const opened = request.split(`<${fence} `).length
      expect(request.split(`</${fence}>`)).toHaveLength(opened)
    }
    expect(broken).toBeGreaterThan(20)
  })

  it('that came as messages of the system are fenced by every renderer, and each fence closes', () => {
    let fences = 0
    for (const context of story.contexts) {
      const { fence } = context
      for (const { content } of toOpenAI(context).messages) {
        if (typeof content !== 'string' || !content.startsWith(`<${fence} system>`)) continue
        expect(fencesIn(content, fence)?.map(({ label }) => label)).toEqual(['system'])
        fences++
      }
    }
    expect(fences).toBeGreaterThan(40)
  })

  it('are claims where they show as facts, each on one line with a label below user and nothing hidden', () => {
    let claims = 0
    for (const { blocks, fence } of story.contexts)
      for (const block of blocks) {
        if (block.section !== 'memory' && block.rule !== 'tail') continue
        for (const { label, body } of fencesIn(textOf({ content: block.parts }), fence) ?? []) {
          if (label !== 'facts') continue
          for (const line of body.split('\n')) {
            if (/^\(\d+ more did not fit\)$/.test(line)) continue
            expect(line).toMatch(CLAIM)
            expect(visible(line)).toBe(line)
            claims++
          }
        }
      }
    expect(claims).toBeGreaterThan(100)
  })

  it('lower the label of every block that holds them', () => {
    for (const { blocks } of story.contexts)
      for (const block of blocks) {
        if (!MARKED.test(textOf({ content: block.parts }))) continue
        expect(block.section).not.toBe('system')
        if (block.section === 'memory') expect(isTrusted(block.trust)).toBe(false)
      }
  })

  it('are remembered at the trust of what was read, never pinned, and never rise', async () => {
    const { first, raised, session } = story
    const own = [...first.values()].filter(({ text }) => MARKED.test(text))
    expect(own.length).toBeGreaterThan(5 * 40)
    expect(new Set(own.map(({ trust }) => trust))).toEqual(new Set(['web']))
    expect(own.filter(({ pinned }) => pinned)).toEqual([])
    expect(raised).toEqual([])
    const trusted = (await session.facts.list()).filter(({ trust }) => isTrusted(trust))
    expect(trusted.map(({ text }) => text)).toEqual(['Never book a flight.'])
  })

  it('are shared with nobody: profile, facts and further sessions hold what they held', async () => {
    const { memory, session } = story
    const user = memory.user(ADA)
    expect(await user.profile.list()).toMatchObject([{ name: 'SOUL.md', text: 'Be brief and kind.' }])
    expect((await user.facts.list({ all: true })).map(({ text }) => text)).toEqual(['Never book a flight.'])
    const other = memory.session({ ...ADA, sessionId: 'other' })
    await other.append({ role: 'user', content: 'Hello.' })
    const { blocks } = await other.context()
    expect(textOf({ content: blocks[0]?.parts ?? [] })).toBe(TRUSTED)
    for (const starting of [session, other]) {
      const start = await startSession(starting, { query: 'mallory7x' })
      expect(start.pinned.map(({ content }) => content)).toEqual(['Never book a flight.'])
      for (const { text = '', trust } of start.context_recall)
        if (MARKED.test(text)) expect(isTrusted(trust)).toBe(false)
      // What derives from a page stays in its session, whatever is asked.
      if (starting === other)
        for (const options of [{}, { query: 'mallory7x' }, { project: 'any' }])
          expect((await startSession(other, options)).context_recall).toEqual([])
    }
  })

  it('can be promoted by the app, and by nothing else', async () => {
    const { session, memory } = story
    const [fact] = (await session.facts.list({ kinds: ['constraint'] })).filter(({ text }) =>
      MARKED.test(text),
    )
    await expect(session.facts.pin(fact?.id ?? '')).rejects.toMatchObject({ code: 'ERR_INVALID_ARGUMENT' })
    expect(await session.facts.promote(fact?.id ?? '')).toMatchObject({ trust: 'user', promotedFrom: 'web' })
    expect(await memory.user(ADA).facts.list()).toHaveLength(2)
  })
})

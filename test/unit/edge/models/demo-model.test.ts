import { describe, expect, it } from 'vitest'
import { DEMO_MODEL_ID, DEMO_NOTICE, demoModel } from '../../../../src/agent/demo-model.ts'
import { mapStore, memoryToolSpecs, memoryTools, runAgent } from '../../../../src/index.ts'
import { webHost } from '../../../../src/platform/web.ts'
import { type FullSession, fullMemory } from '../../../contract/full-memory.ts'

const model = demoModel(webHost)

const sessionOf = (): FullSession =>
  fullMemory({ store: mapStore(), budget: 16_000, recall: {} }).session({ userId: 'ada' })

describe('the demo model', () => {
  it.each(['Hello!', 'Remember that the gate is B7.', 'Summarize the following: nothing', ''])(
    'says in every reply that no language model was called: %j',
    async (input) => {
      const session = sessionOf()
      const { answer } = await runAgent({ input: { role: 'user', content: input }, model, session })
      expect(answer).toContain(DEMO_NOTICE)
      expect(model.id).toBe(DEMO_MODEL_ID)
    },
  )

  it('repeats what was said, shortened, and tells how full the context is', async () => {
    const session = sessionOf()
    const { answer } = await runAgent({ input: 'Book the 9:40\n to Turin.', model, session })
    expect(answer).toContain('You said: “Book the 9:40 to Turin.”')
    expect(answer).toMatch(/It was given 1 message: \d+ of \d+ tokens\.$/)
    const long = await runAgent({ input: '🚆'.repeat(1_000), model, session })
    expect(long.answer.length).toBeLessThan(700)
    expect(long.answer).not.toMatch(/\p{Surrogate}/u)
  })

  it.each([
    ['Please remember that the gate is B7.', 'finding', 'the gate is B7.'],
    ['Remember: I prefer window seats.', 'preference', 'I prefer window seats.'],
    ['Note that never book before 8.', 'constraint', 'never book before 8.'],
    ["Don't forget that the gate is B7.", 'finding', 'the gate is B7.'],
    ['Merk dir, dass ich gern am Fenster sitze.', 'preference', 'ich gern am Fenster sitze.'],
    ['Retiens que je préfère une place côté fenêtre.', 'preference', 'je préfère une place côté fenêtre.'],
    ['Recuerda que prefiero el asiento de ventanilla.', 'preference', 'prefiero el asiento de ventanilla.'],
    ['تذكّر أن مقعدي المفضل بجانب النافذة.', 'preference', 'مقعدي المفضل بجانب النافذة.'],
    ['覚えて：窓側の席が好きです。', 'preference', '窓側の席が好きです。'],
  ])('remembers where it has the tool for it: %s', async (input, kind, text) => {
    const session = sessionOf()
    const { answer, steps } = await runAgent({ input, model, session, tools: memoryTools(session) })
    expect(await session.facts.list()).toMatchObject([{ kind, text }])
    expect(steps).toBe(2)
    expect(answer).toContain('It is remembered')
    expect(answer).toContain(DEMO_NOTICE)
  })

  it('looks for a wish in the first 4 000 characters alone, so that no text keeps it searching', async () => {
    const session = sessionOf()
    const tools = memoryTools(session)
    const wish = 'Remember that the gate is B7.'
    await runAgent({ input: `${'x '.repeat(2_000)}${wish}`, model, session, tools })
    expect(await session.facts.list()).toEqual([])
    await runAgent({ input: `${'x '.repeat(1_000)}${wish}`, model, session, tools })
    expect(await session.facts.list()).toHaveLength(1)
  })

  it('looks up what it is asked for and the context does not show', async () => {
    const session = sessionOf()
    const { answer, steps } = await runAgent({
      input: 'What do you remember about flight LX12?',
      model,
      session,
      tools: memoryTools(session),
    })
    expect(steps).toBe(2)
    expect(answer).toContain('It was looked up:')
  })

  it.each([
    ['I prefer window seats.', 'What do you remember about my seat?'],
    ['ich gern am Fenster sitze.', 'Was weißt du über meinen Sitzplatz am Fenster?'],
    ['je préfère une place côté fenêtre.', 'Que sais-tu de ma place côté fenêtre ?'],
    ['prefiero el asiento de ventanilla.', '¿Qué sabes de mi asiento de ventanilla?'],
    ['مقعدي المفضل بجانب النافذة.', 'ماذا تعرف عن مقعدي بجانب النافذة؟'],
    ['窓側の席が好きです。', '窓側の席について何を覚えていますか？'],
  ])('finds again what its memory shows, and calls no tool for it: %s', async (text, input) => {
    const session = sessionOf()
    await session.facts.remember({ kind: 'preference', text })
    await session.facts.remember({ kind: 'finding', text: 'B7' })
    const { answer, steps } = await runAgent({ input, model, session, tools: memoryTools(session) })
    expect(steps).toBe(1)
    expect(answer).toContain(`You told me: “${text}”`)
    expect(answer).not.toMatch(/B7|memory_|\[/)
  })

  it('finds again what was remembered a moment ago', async () => {
    const session = sessionOf()
    const tools = memoryTools(session)
    await runAgent({ input: 'Remember that I prefer window seats.', model, session, tools })
    const { answer } = await runAgent({ input: 'What do you remember about my seat?', model, session, tools })
    expect(answer).toContain('You told me: “I prefer window seats.” It was given 5 messages')
  })

  it('calls no tool where it may not, or has none', async () => {
    const session = sessionOf()
    const input = 'Remember that the gate is B7.'
    const tools = memoryTools(session)
    const none = await runAgent({ input, model, session, tools, settings: { toolChoice: 'none' } })
    const without = await runAgent({ input, model, session })
    expect([none.steps, without.steps]).toEqual([1, 1])
    expect(await session.facts.list()).toEqual([])
  })

  it('does not take its own words for a wish', async () => {
    const session = sessionOf()
    await session.append([
      { role: 'user', content: 'Hi.' },
      { role: 'assistant', content: 'Remember that the gate is B7.' },
    ])
    const context = await session.context({ tools: memoryToolSpecs(session) })
    const types = []
    for await (const { type } of model.complete({ context })) types.push(type)
    expect(types).not.toContain('tool-call')
  })

  it('gives calls ids that no other call has', async () => {
    const session = sessionOf()
    const tools = memoryTools(session)
    await runAgent({ input: 'Remember that the gate is B7.', model, session, tools })
    await runAgent({ input: 'Remember that the hotel is Roma.', model: demoModel(webHost), session, tools })
    const parts = (await session.history()).flatMap(({ content }) =>
      typeof content === 'string' ? [] : content,
    )
    const ids = parts.flatMap((part) => (part.type === 'tool-call' ? part.id : []))
    expect(new Set(ids).size).toBe(2)
  })
})

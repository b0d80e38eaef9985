import { describe, expect, it } from 'vitest'
import { DEMO_MODEL_ID, demoModel } from '../../../../src/agent/demo-model.ts'
import { demoWords } from '../../../../src/agent/demo-words.ts'
import { ar } from '../../../../src/chat/strings/ar.ts'
import { de } from '../../../../src/chat/strings/de.ts'
import { en } from '../../../../src/chat/strings/en.ts'
import { es } from '../../../../src/chat/strings/es.ts'
import { fr } from '../../../../src/chat/strings/fr.ts'
import { ja } from '../../../../src/chat/strings/ja.ts'
import { ar as arPanels } from '../../../../src/chat/strings/panels/ar.ts'
import { de as dePanels } from '../../../../src/chat/strings/panels/de.ts'
import { en as enPanels } from '../../../../src/chat/strings/panels/en.ts'
import { es as esPanels } from '../../../../src/chat/strings/panels/es.ts'
import { fr as frPanels } from '../../../../src/chat/strings/panels/fr.ts'
import { ja as jaPanels } from '../../../../src/chat/strings/panels/ja.ts'
import { forget, mapStore, memoryToolSpecs, memoryTools, runAgent } from '../../../../src/index.ts'
import { webHost } from '../../../../src/platform/web.ts'
import { type FullSession, fullMemory } from '../../../contract/full-memory.ts'

const model = demoModel(webHost)
const NOTICE = demoWords().notice

const sessionOf = (): FullSession =>
  fullMemory({ store: mapStore(), budget: 16_000, recall: {} }).session({ userId: 'ada' })

describe('the demo model', () => {
  it.each(['Hello!', 'Remember that the gate is B7.', 'Summarize the following: nothing', ''])(
    'says in every reply that no language model was called: %j',
    async (input) => {
      const session = sessionOf()
      const { answer } = await runAgent({ input: { role: 'user', content: input }, model, session })
      expect(answer).toContain(NOTICE)
      expect(model.id).toBe(DEMO_MODEL_ID)
    },
  )

  it('says of a file without words that no words came', async () => {
    const url = 'https://example.com/a.png'
    const file = { type: 'media', mediaType: 'image/png', url } as const
    const { answer } = await runAgent({
      input: { role: 'user', content: [file] },
      model,
      session: sessionOf(),
    })
    expect(answer).toContain('You sent no words.')
  })

  it('repeats what was said, shortened, and tells how full the context is', async () => {
    const session = sessionOf()
    const { answer } = await runAgent({ input: 'Book the 9:40\n to Turin.', model, session })
    expect(answer).toContain('You said: “Book the 9:40 to Turin.”')
    expect(answer).toMatch(/It was given 1 message: \d+ of 16,000 tokens\.$/)
    const short = await runAgent({ input: 'Said offline', model, session })
    expect(short.answer).toContain('You said: “Said offline”. It was given 3 messages')
    const long = await runAgent({ input: '🚆'.repeat(1_000), model, session })
    expect(long.answer.length).toBeLessThan(700)
    expect(long.answer).not.toMatch(/\p{Surrogate}/u)
  })

  it.each([
    ['Please remember that the gate is B7.', 'finding', 'The gate is B7.', 'en'],
    ['Remember that my dog is called Rufus.', 'finding', 'Your dog is called Rufus.', 'en'],
    ['Remember that iPads stay at home.', 'finding', 'iPads stay at home.', 'en'],
    ['Remember: I prefer window seats.', 'preference', 'You prefer window seats.', 'en'],
    ['Remember that I like my tea black.', 'preference', 'You like your tea black.', 'en'],
    ['Note that never book before 8.', 'constraint', 'Never book before 8.', 'en'],
    ["Don't forget that the gate is B7.", 'finding', 'The gate is B7.', 'en'],
    ['Merk dir, dass ich gern am Fenster sitze.', 'preference', 'Sie sitzen gern am Fenster.', 'de'],
    ['Merk dir: ich reise gern.', 'preference', 'Ich reise gern.', 'de'],
    ['Merk dir: Tor B7.', 'preference', 'Tor B7.', 'de'],
    [
      'Retiens que je préfère une place côté fenêtre.',
      'preference',
      'Vous préférez une place côté fenêtre.',
      'fr',
    ],
    [
      'Recuerda que prefiero el asiento de ventanilla.',
      'preference',
      'Usted prefiere el asiento de ventanilla.',
      'es',
    ],
    ['تذكّر أن مقعدي المفضل بجانب النافذة.', 'preference', 'مقعدك المفضل بجانب النافذة.', 'ar'],
    ['覚えて：窓側の席が好きです。', 'preference', '窓側の席が好きです。', 'ja'],
  ])('remembers where it has the tool for it: %s', async (input, kind, text, language) => {
    const session = sessionOf()
    const { answer, steps } = await runAgent({ input, model, session, tools: memoryTools(session) })
    expect(await session.facts.list()).toMatchObject([{ kind, text }])
    expect(steps).toBe(2)
    const { notice, remembered, known } = demoWords(language)
    expect(answer).toContain(remembered)
    expect(answer).toContain(notice)
    // Findings stay in their conversation.
    expect(answer.includes(known)).toBe(kind !== 'finding')
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
    const memory = fullMemory({ store: mapStore(), budget: 1_000, recall: {} })
    const session = memory.session({ userId: 'ada' })
    await session.append({ role: 'user', content: 'Flight LX12 leaves from gate B7.' })
    await session.append({ role: 'user', content: 'filling words '.repeat(200) })
    const { answer, steps } = await runAgent({
      input: 'What do you remember about flight LX12?',
      model,
      session,
      tools: memoryTools(session),
    })
    expect(steps).toBe(2)
    // Without what tells a model where it is from.
    expect(answer).toContain('It was looked up: “Flight LX12 leaves from gate B7.”')
  })

  const SEATS = [
    ['You prefer window seats.', 'What do you remember about my seat?', 'en'],
    ['Sie sitzen gern am Fenster.', 'Was weißt du über meinen Sitzplatz am Fenster?', 'de'],
    ['Vous préférez une place côté fenêtre.', 'Que sais-tu de ma place côté fenêtre ?', 'fr'],
    ['Usted prefiere el asiento de ventanilla.', '¿Qué sabes de mi asiento de ventanilla?', 'es'],
    ['مقعدك المفضل بجانب النافذة.', 'ماذا تعرف عن مقعدي بجانب النافذة؟', 'ar'],
    ['窓側の席が好きです。', '窓側の席について何を覚えていますか？', 'ja'],
  ] as const

  it.each(SEATS)('says that nothing is remembered yet, and what to say: %s', async (_, input, language) => {
    const { notice, nothing } = demoWords(language)
    for (const settings of [{}, { recall: {} }]) {
      const session = fullMemory({ store: mapStore(), budget: 16_000, ...settings }).session({
        userId: 'ada',
      })
      const { answer } = await runAgent({ input, model, session, tools: memoryTools(session) })
      expect(answer).toContain(`${notice} ${nothing}`)
      expect(await session.facts.list()).toEqual([])
    }
  })

  it('says how what was said in another conversation gets here, which is so', async () => {
    const memory = fullMemory({ store: mapStore(), budget: 16_000, recall: {} })
    const say = async (sessionId: string, input: string): Promise<string> => {
      const session = memory.session({ userId: 'ada', sessionId })
      return (await runAgent({ input, model, session, tools: memoryTools(session) })).answer
    }
    await say('first', 'Remember that I prefer window seats.')
    expect(await say('second', 'What do you remember about my seat?')).toContain(demoWords().nothing)
    const first = memory.session({ userId: 'ada', sessionId: 'first' })
    const [seat] = await first.facts.list()
    await first.facts.promote(seat?.id ?? '')
    expect(await say('second', 'What do you remember about my seat?')).toContain(
      'I remember: “You prefer window seats.”',
    )
  })

  it.each([
    ['en', en, enPanels],
    ['de', de, dePanels],
    ['fr', fr, frPanels],
    ['es', es, esPanels],
    ['ar', ar, arPanels],
    ['ja', ja, jaPanels],
  ])('says what is confirmed by which button as the widget does: %s', (language, { memory }, panels) => {
    const { promote, kindPreference, kindConstraint } = panels
    const { nothing, known } = demoWords(language)
    for (const kind of [kindPreference, kindConstraint])
      expect(nothing.toLowerCase()).toContain(kind.toLowerCase())
    for (const text of [nothing, known]) {
      expect(text).toContain(memory)
      expect(text).toMatch(new RegExp(`[“„«「]\\s?${promote}\\s?[”“»」]`, 'u'))
    }
  })

  it.each([
    ['Remember that I prefer window seats.', 'What do you remember about me?', 'en'],
    ['Merk dir, dass ich gern am Fenster sitze.', 'Was weißt du über mich?', 'de'],
    ['Retiens que je préfère une place côté fenêtre.', 'Que sais-tu de moi ?', 'fr'],
    ['Recuerda que prefiero el asiento de ventanilla.', '¿Qué sabes de mí?', 'es'],
    ['تذكّر أن مقعدي المفضل بجانب النافذة.', 'ماذا تعرف عني؟', 'ar'],
    ['覚えて：窓側の席が好きです。', '私について何を覚えていますか？', 'ja'],
  ])('says all that it remembers of who asks for that: %s', async (wish, input, language) => {
    const session = sessionOf()
    const tools = memoryTools(session)
    const ask = async () => (await runAgent({ input, model, session, tools })).answer
    expect(await ask()).toContain(demoWords(language).nothing)
    await runAgent({ input: wish, model, session, tools })
    const [fact] = await session.facts.list()
    expect(await ask()).toContain(demoWords(language).told(`“${fact?.text}”`))
  })

  it.each([
    ['Plan a weekend in Turin.', 'Turin', 'en'],
    ['Plan a trip to Genoa!', 'Genoa', 'en'],
    ['Plan a trip.', 'Turin', 'en'],
    ['Plane ein Wochenende in Turin.', 'Turin', 'de'],
    ['Planifie un week-end à Turin.', 'Turin', 'fr'],
    ['Planifica un fin de semana en Turín.', 'Turín', 'es'],
    ['خطّط لعطلة نهاية أسبوع في تورينو.', 'تورينو', 'ar'],
    ['トリノで過ごす週末を計画して。', 'トリノ', 'ja'],
  ])('plans a trip in scripted steps, and notes each of them: %s', async (input, place, language) => {
    const session = sessionOf()
    const tools = memoryTools(session)
    const { trip, told, notice } = demoWords(language)
    const first = await runAgent({ input, model, session, tools })
    expect(first.steps).toBe(3)
    expect((await session.facts.list()).map(({ text }) => text).sort()).toEqual(
      trip.steps.map(({ notes }) => notes(place)).sort(),
    )
    expect(first.answer).toContain(`${notice} ${trip.plan(place, trip.noSeat)}`)
    const [seat] = SEATS.find(([, , one]) => one === language) ?? SEATS[0]
    const again = fullMemory({ store: mapStore(), budget: 16_000, recall: {} }).session({ userId: 'ada' })
    await again.facts.remember({ kind: 'preference', text: seat })
    const second = await runAgent({ input, model, session: again, tools: memoryTools(again) })
    expect(second.answer).toContain(trip.plan(place, told(`“${seat}”`)))
  })

  it('plans a trip at once where it has no tool', async () => {
    const { answer, steps } = await runAgent({ input: 'Plan a trip.', model, session: sessionOf() })
    expect(steps).toBe(1)
    expect(answer).toContain('Your weekend in Turin.')
  })

  it.each([
    ['Hello.', 'Hello.', 'en'],
    ['مرحبا', 'مرحبا', 'ar'],
    ['こんにちは', 'こんにちは', 'ja'],
  ])('goes on in the language that it was spoken to: %s', async (input, said, language) => {
    const session = sessionOf()
    const { answer } = await runAgent({ input, model, session })
    expect(answer).toContain(demoWords(language).said(`“${said}”`))
    await runAgent({ input: 'Merk dir, dass ich gern lese.', model, session })
    const { answer: later } = await runAgent({ input: 'Danke!', model, session })
    expect(later).toContain(demoWords('de').said('“Danke!”'))
  })

  it.each(SEATS)(
    'finds again what its memory shows, and calls no tool for it: %s',
    async (text, input, language) => {
      const session = sessionOf()
      await session.facts.remember({ kind: 'preference', text })
      await session.facts.remember({ kind: 'finding', text: 'B7' })
      const { answer, steps } = await runAgent({ input, model, session, tools: memoryTools(session) })
      expect(steps).toBe(1)
      expect(answer).toContain(demoWords(language).told(`“${text}”`))
      expect(answer).not.toMatch(/B7|memory_|\[/)
    },
  )

  it('finds again what was remembered a moment ago', async () => {
    const session = sessionOf()
    const tools = memoryTools(session)
    await runAgent({ input: 'Remember that I prefer window seats.', model, session, tools })
    const { answer } = await runAgent({ input: 'What do you remember about my seat?', model, session, tools })
    expect(answer).toContain('I remember: “You prefer window seats.” It was given 3 messages')
  })

  it.each([
    ['in the epoch in which it was remembered', false],
    ['once the memory of a new epoch has shown it', true],
  ])('says a fact no more that was forgotten: %s', async (_, newEpoch) => {
    const session = sessionOf()
    const tools = memoryTools(session)
    const say = async (input: string): Promise<string> =>
      (await runAgent({ input, model, session, tools })).answer
    await say('Remember that the gate is B7.')
    await say('Remember that I prefer window seats.')
    await session.context({ newEpoch })
    expect(await say('What do you remember about my seat?')).toContain('You prefer window seats.')
    const [seat] = (await session.facts.list()).filter(({ text }) => text.includes('seats'))
    await forget(session, seat?.id ?? '', { kind: 'fact' })
    const answer = await say('What do you remember about my seat?')
    expect(answer).toContain(demoWords().nothing)
    expect(await say('What do you remember about the gate?')).toContain('I remember: “The gate is B7.”')
    expect(await say('Plan a trip.')).toContain(demoWords().trip.noSeat)
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

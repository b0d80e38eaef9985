import { afterEach, describe, expect, it } from 'vitest'
import { page } from 'vitest/browser'
import { createMemory, facts, mapStore, type SessionBase } from '../../src/index.ts'
import { forgetFact } from '../../src/operations/forget/forget.ts'
import { PlimsollError } from '../../src/ports/errors.ts'
import { clear, frame, type Shown, show, until } from './support/element.ts'
import type { FakeChat } from './support/fake-chat.ts'
import { violations } from './support/violations.ts'

afterEach(async () => {
  clear()
  await page.viewport(414, 896)
})

const TOOLS = ['find_trains', 'book_seat'].map((name) => ({
  name,
  description: `To ${name}`,
  inputSchema: { type: 'object' },
}))

/** A conversation of two rounds, as its memory has it. */
async function told() {
  const memory = createMemory({ store: mapStore(), budget: 1_000, system: 'You are a travel agent.' })
  const session = memory.session({ userId: 'ada', sessionId: 'trip' })
  for (const text of ['The 9:40 to Turin', 'And back <b>again</b>']) {
    await session.append({ role: 'user', content: text })
    await session.context()
    const metadata = { usage: { model: 'small-2' } }
    await session.append({ role: 'assistant', content: `Booked: ${text}`, metadata })
  }
  return session
}

async function showTold({ tools: given, ...attributes }: Record<string, string> = {}, own?: SessionBase) {
  const session = own ?? (await told())
  const messages = await session.history({ messages: 10 })
  const inspected = { home: 'local', session, tools: given ? TOOLS : [], title: 'Turin' } as const
  const shown = await show({
    attributes,
    prepare: (fake: FakeChat) => {
      fake.inspected = async () => inspected
      fake.log = messages.map((message) => ({ message, delivery: 'sent', remembered: [] }))
      fake.setSessions([{ sessionId: 'trip', title: 'Turin', home: 'local', createdAt: 1 }])
    },
  })
  return { ...shown, session, messages }
}

const summaries = ({ root }: Shown): readonly string[] =>
  [...root.querySelectorAll('.seen .card > summary')].map(({ textContent }) =>
    textContent.replace(/\s+/g, ' ').trim(),
  )

/** Opens the sections of a request and what stands in each. */
async function openStretches(shown: Shown): Promise<void> {
  const all = () =>
    shown.root.querySelectorAll<HTMLDetailsElement>('.seen details.card, .seen .stretches > li > details')
  await expect.poll(() => all().length).toBeGreaterThan(0)
  for (const details of all()) details.open = true
}

describe('what the model will see', () => {
  it('shows the next request by its sections, and where a stretch comes from', async () => {
    const shown = await showTold()
    const { find, text, session, fake } = shown
    find('.to-seen').click()
    await expect.poll(() => summaries(shown).length).toBeGreaterThan(2)
    const { receipt } = await session.context({ preview: true })
    expect(text()).toContain(`${receipt.used} of 1,000 tokens`)
    expect(summaries(shown).map((one) => one.split(' ')[0])).toEqual(['System', 'Window', 'Tail', 'Format'])
    const parts = summaries(shown).map((one) => Number(/(\d+) tokens/.exec(one)?.[1]))
    expect(parts.reduce((sum, part) => sum + part, 0)).toBe(receipt.used)
    expect(find('.terms').textContent).toContain('A stretch of calls')
    const window = [...shown.root.querySelectorAll<HTMLDetailsElement>('.seen .card')][1]
    window?.querySelector('summary')?.click()
    const stretch = window?.querySelectorAll('details')[2]
    stretch?.querySelector('summary')?.click()
    // What was said is text, whatever is in it.
    await expect.poll(() => stretch?.querySelector('pre')?.textContent).toContain('And back <b>again</b>')
    expect(stretch?.textContent).toContain((await session.history({ messages: 2 }))[0]?.id)
    await session.append({ role: 'user', content: 'One more' })
    const [newest] = await session.history({ messages: 1 })
    if (newest) fake.add({ message: newest, delivery: 'sent', remembered: [] })
    await expect.poll(() => find('.seen').textContent).toContain('One more')
  })

  it('draws the line where a request is full, where one writes to the left too', async () => {
    for (const [lang, seen] of [
      ['en', 'What the model will see'],
      ['ar', 'ما سيراه النموذج'],
    ] as const) {
      const shown = await showTold({ lang })
      shown.root.querySelector<HTMLElement>('.to-seen')?.click()
      await until(() => shown.root.querySelector('.seen .bar') !== null)
      expect(shown.root.querySelector('.seen h2')?.textContent).toBe(seen)
      const style = getComputedStyle(shown.find('.seen .bar'))
      // All of it is mirrored, its line too.
      expect([style.borderRightWidth, style.borderLeftWidth]).toEqual(['3px', '0px'])
      expect(style.scale).toBe(lang === 'ar' ? '-1 1' : 'none')
      clear()
    }
  })

  it('says of each section what it is before that is opened, and which tools there are', async () => {
    const shown = await showTold({ tools: 'yes' })
    shown.find('.to-seen').click()
    await expect.poll(shown.text).toContain('find_trains, book_seat')
    expect(shown.text()).toContain('What the assistant can do besides talking, and how it asks for it.')
    for (const details of shown.root.querySelectorAll<HTMLDetailsElement>('.seen details.card'))
      expect([details.open, details.querySelector('.about')?.checkVisibility()]).toEqual([false, true])
  })

  it('shows what was sent for a reply, rebuilt from the log and checked', async () => {
    const shown = await showTold()
    const { root, text, find } = shown
    const [first] = root.querySelectorAll<HTMLElement>('[aria-label="What was sent for this reply"]')
    first?.click()
    await expect.poll(text).toContain('Rebuilt from the log and checked')
    expect(find('.seen h2').textContent).toBe('What was sent for this reply')
    expect(find('.seen').textContent).toContain('Model: small-2')
    expect(find('.seen').textContent).toContain('The 9:40 to Turin')
    expect(find('.seen').textContent).not.toContain('And back')
    find('.to-seen').click()
    await expect.poll(() => find('.seen').textContent).toContain('And back')
    expect(find('.seen h2').textContent).toBe('What the model will see')
    expect(text()).not.toContain('Rebuilt from the log')
  })

  it('shows what was remembered just before a reply in the tail that was sent for it', async () => {
    const memory = createMemory({ store: mapStore(), budget: 1_000, use: [facts()] })
    const session = memory.session({ userId: 'ada', sessionId: 'trip' })
    for (const text of ['I prefer window seats', 'Book one']) {
      await session.append({ role: 'user', content: text })
      await session.context()
      await session.append({ role: 'assistant', content: 'Done.' })
      await session.facts.remember({ kind: 'preference', text: 'Sits at the window' })
    }
    const shown = await showTold({}, session)
    const [first, second] = shown.root.querySelectorAll<HTMLElement>(
      '[aria-label="What was sent for this reply"]',
    )
    second?.click()
    await expect.poll(shown.text).toContain('these are the bytes that were sent.')
    const tail = [...shown.root.querySelectorAll('.seen .card')].find(
      (card) => card.querySelector('summary strong')?.textContent === 'Tail',
    )
    await openStretches(shown)
    await expect.poll(() => tail?.textContent).toContain('Sits at the window')
    shown.find('.seen header button').click()
    await frame()
    first?.click()
    await expect.poll(shown.text).toContain('these are the bytes that were sent.')
    await openStretches(shown)
    await frame()
    expect(shown.find('.seen').textContent).not.toContain('Sits at the window')
    await session.facts.pin((await session.facts.list())[0]?.id ?? '')
    second?.click()
    await expect.poll(shown.text).toContain('What stood in the tail changed')
    expect(shown.find('.seen').textContent).not.toContain('Sits at the window')
  })

  it.each(['open, in another tab', 'closed'])(
    'reads what was sent for a reply again where a fact in it is forgotten while it is %s',
    async (when) => {
      const memory = createMemory({ store: mapStore(), budget: 1_000, use: [facts()] })
      const session = memory.session({ userId: 'ada', sessionId: 'trip' })
      await session.append({ role: 'user', content: 'Hello' })
      await session.context()
      await session.append({ role: 'assistant', content: 'Hello.' })
      await session.facts.remember({ id: 'f1', kind: 'preference', text: 'Likes brown cheese' })
      await session.append({ role: 'user', content: 'What do I like?' })
      await session.context()
      await session.append({ role: 'assistant', content: 'It is noted.' })
      const shown = await showTold({}, session)
      const open = () =>
        [...shown.root.querySelectorAll<HTMLElement>('[aria-label="What was sent for this reply"]')]
          .at(-1)
          ?.click()
      open()
      await openStretches(shown)
      await expect.poll(() => shown.find('.seen').textContent).toContain('Likes brown cheese')
      if (when === 'closed') shown.find('.seen header button').click()
      await frame()
      await forgetFact(memory, { userId: 'ada' }, 'f1')
      if (when === 'closed') {
        open()
        await frame()
        expect(shown.root.textContent).not.toContain('Likes brown cheese')
      }
      await expect.poll(() => shown.root.textContent).not.toContain('Likes brown cheese')
      await expect.poll(() => summaries(shown).length).toBeGreaterThan(1)
      expect(shown.root.textContent).not.toContain('Likes brown cheese')
    },
  )

  it('shows nothing of a request any more where it cannot be read again', async () => {
    const { find, text, root, fake, messages } = await showTold()
    root.querySelector<HTMLElement>('[aria-label="What was sent for this reply"]')?.click()
    await expect.poll(() => find('.seen').textContent).toContain('The 9:40 to Turin')
    fake.inspected = async () => {
      throw new Error('it failed')
    }
    fake.add({
      message: { ...messages[0], id: 'more' } as (typeof messages)[0],
      delivery: 'sent',
      remembered: [],
    })
    await expect.poll(text).toContain('Something went wrong.')
    expect(find('.seen').textContent).not.toContain('The 9:40 to Turin')
  })

  it('says that there is none before anything was said, and why one cannot be shown', async () => {
    const { find, text, fake } = await show()
    find('.to-seen').click()
    await expect.poll(text).toContain('there is no request')
    find('.seen header button').click()
    fake.inspected = async () => {
      throw new Error('it failed')
    }
    await frame()
    fake.become({ session: { sessionId: 'other', title: '', home: 'local', createdAt: 1 } })
    find('.to-seen').click()
    await expect.poll(text).toContain('Something went wrong.')
    // As the bar above the messages says it.
    fake.inspected = async () => {
      throw new PlimsollError('ERR_OFFLINE', 'context: status 502')
    }
    fake.become({ session: { sessionId: 'third', title: '', home: 'local', createdAt: 1 } })
    await expect.poll(text).toContain('The service cannot be reached.')
  })

  it('shows a call of a tool and its result for people, and the bytes a click away', async () => {
    const memory = createMemory({ store: mapStore(), budget: 2_000 })
    const session = memory.session({ userId: 'ada', sessionId: 'trip' })
    const [id, long] = ['c1', 'word '.repeat(200)]
    const input = { to: 'Turin', when: { day: 'Monday', hours: [9, 10] } }
    await session.append({ role: 'user', content: 'To Turin' })
    await session.append({
      role: 'assistant',
      content: [{ type: 'tool-call', id, name: 'find_trains', input }],
    })
    const output = { trains: [{ at: '9:40', note: '<b>late</b>' }], long }
    await session.append({ role: 'tool', content: [{ type: 'tool-result', callId: id, output }] })
    await session.append({ role: 'assistant', content: 'There is one.' })
    const shown = await showTold({}, session)
    shown.find('.to-seen').click()
    await openStretches(shown)
    await expect.poll(() => shown.root.querySelectorAll('.tool-steps').length).toBe(2)
    const plain = (one: Element) => one.textContent?.replace(/[\s\u2068\u2069]+/g, ' ').trim()
    const [call, result] = shown.root.querySelectorAll('.tool-steps')
    expect(call && plain(call)).toMatch(
      /^Called find_trains ?to: Turin ?when: ?day: Monday ?hours: ?1: 9 ?2: 10$/,
    )
    expect(result && plain(result)).toContain('Result of find_trains')
    expect(result && plain(result)).toContain('note: <b>late</b>')
    const whole = result?.querySelector<HTMLDetailsElement>('details')
    expect(whole && plain(whole)).toContain('Show all')
    const ends = () => whole?.querySelector(':scope > .value')?.checkVisibility()
    expect(ends()).toBe(false)
    whole?.querySelector('summary')?.click()
    expect(ends()).toBe(true)
    await expect.poll(() => whole?.querySelector(':scope > .value')?.textContent).toMatch(/^word .* word $/s)
    const bytes = call?.parentElement?.querySelector<HTMLDetailsElement>(':scope > details')
    expect([bytes?.open, bytes?.querySelector('summary')?.textContent]).toEqual([false, 'As it was sent'])
    bytes?.querySelector('summary')?.click()
    await expect
      .poll(() => bytes?.querySelector('pre')?.textContent)
      .toContain('"arguments":"{\\"to\\":\\"Turin\\"')
    await Promise.all(shown.root.getAnimations().map(({ finished }) => finished))
    expect(await violations(shown.element)).toEqual([])
  })

  it('makes of a large result what is asked for, up to its end', async () => {
    const memory = createMemory({ store: mapStore(), budget: 1_000_000 })
    const session = memory.session({ userId: 'ada', sessionId: 'trip' })
    const id = 'c1'
    await session.append({ role: 'user', content: 'To Turin' })
    await session.append({ role: 'assistant', content: [{ type: 'tool-call', id, name: 'find', input: {} }] })
    const output = {
      rows: Array.from({ length: 1_000 }, (_, row) => row),
      long: `${'word '.repeat(6_000)}end`,
    }
    await session.append({ role: 'tool', content: [{ type: 'tool-result', callId: id, output }] })
    await session.append({ role: 'assistant', content: 'There is one.' })
    const shown = await showTold({}, session)
    shown.find('.to-seen').click()
    await expect.poll(() => shown.root.querySelectorAll('.seen .stretches').length).toBeGreaterThan(0)
    expect(shown.root.querySelectorAll('.seen .tool-steps, .seen pre')).toHaveLength(0)
    await openStretches(shown)
    await expect.poll(() => shown.root.querySelectorAll('.tool-steps').length).toBe(2)
    const result = shown.root.querySelectorAll('.tool-steps')[1]
    const members = () => result?.querySelectorAll('.name').length
    expect(members()).toBe(300)
    const summaries = () => [...(result?.parentElement?.querySelectorAll('summary') ?? [])]
    const named = (text: string) => summaries().find((one) => one.textContent === text)
    expect(summaries().map(({ textContent }) => textContent?.trim())).toEqual([
      ...['Show all (+701)', 'Show all (+1)', 'As it was sent'],
    ])
    named('Show all (+701)')?.click()
    await expect.poll(members).toBe(600)
    named('As it was sent')?.click()
    const bytes = () => result?.parentElement?.querySelector('pre')?.textContent ?? ''
    await expect.poll(bytes).toContain('"role":"tool"')
    expect(bytes()).not.toContain('word end')
    summaries().at(-1)?.click()
    await expect.poll(bytes).toContain('word end')
  })

  it.each([
    ['light', 'en', 1_280],
    ['dark', 'ar', 360],
  ])('has nothing that axe finds, %s, %s', async (scheme, lang, width) => {
    await page.viewport(width, 800)
    const shown = await showTold({ lang, style: `color-scheme: ${scheme}` })
    shown.find('.to-seen').click()
    await expect.poll(() => summaries(shown).length).toBeGreaterThan(2)
    for (const details of shown.root.querySelectorAll<HTMLDetailsElement>('.seen details'))
      details.open = true
    await expect.poll(() => shown.root.querySelector('.seen pre')).not.toBeNull()
    // It fades in.
    await Promise.all(shown.root.getAnimations().map(({ finished }) => finished))
    expect(await violations(shown.element)).toEqual([])
  })
})

/** Every state of the widget, in each look: axe-core finds nothing, and nothing is hard to hit. */
import { afterEach, describe, expect, it } from 'vitest'
import { page } from 'vitest/browser'
import { isWhole } from '../everywhere/runs.ts'
import { clear, endMovements, frame, type Shown, type ShowOptions, show, until } from './support/element.ts'
import { type FakeChat, fact, said, session } from './support/fake-chat.ts'
import { violations } from './support/violations.ts'

afterEach(async () => {
  clear()
  await page.viewport(414, 896)
})

interface State extends ShowOptions {
  /** How one comes there. */
  readonly reach?: (shown: Shown) => Promise<unknown>
  /** What is there then. */
  readonly shows: string
}

const LOOKS = [
  { lang: 'en', scheme: 'light', width: 360, placement: 'bottom-right' },
  { lang: 'ar', scheme: 'dark', width: 1_280, placement: 'page' },
  { lang: 'ar', scheme: 'dark', width: 360, placement: 'bottom-right' },
  { lang: 'de', scheme: 'light', width: 1_280, placement: 'page' },
] as const
/**
 * On a push, two in which each of width, scheme and direction has both of its values, and in each
 * of them every other state.
 */
const looks = isWhole ? LOOKS : LOOKS.slice(0, 2)

const problem = { code: 'ERR_MODEL', message: 'x', retryable: true } as const

/** A conversation with a bit of everything. */
function told(fake: FakeChat): void {
  fake.setSessions([session('Turin', { sessionId: 'trip' }), session('')])
  fake.facts = [
    fact('Likes trains', { pinned: true }),
    fact('Platform 7', { trust: 'web', title: 'Platform', shared: true }),
  ]
  fake.log = [
    said(
      'user',
      [
        { type: 'text', text: 'Hello' },
        { type: 'media', mediaType: 'image/png', url: 'attachment:a' },
      ] as never,
      {
        version: { index: 1, count: 2 },
        remembered: [
          { factId: 'f', text: 'Greets', trust: 'user', said: 'm' },
          { factId: 'g', text: '', trust: 'user', said: 'm', undo: 'done' },
        ],
      },
    ),
    said('assistant', [
      { type: 'reasoning', text: 'Let me see' },
      {
        type: 'text',
        text: '# Title\n\n| a | b |\n| - | - |\n| 1 | `2` |\n\n> Said\n\n1. One\n\n```ts\nconst a = "b" // c\n```\n\n[link](https://example.com)',
      },
      { type: 'tool-call', id: 'c', name: 'find', input: { at: 1 } },
    ]),
    said('user', 'Again', { delivery: 'failed', problem }),
    said('user', 'And again', { delivery: 'queued' }),
  ]
}

const opened = async (shown: Shown, side: string): Promise<void> => {
  shown.find(`.to-${side}`).click()
  await until(() => shown.root.querySelector(`.side.${side}`)?.checkVisibility() === true)
}
const tab = (name: string) => async (shown: Shown) => {
  await opened(shown, 'memory')
  await until(() => shown.root.querySelector('.tabs') !== null)
  shown.find(`[data-tab=${name}]`).click()
  await frame()
}
const pressed = async (shown: Shown, selector: string): Promise<void> => {
  shown.find(selector).click()
  await frame()
}

const STATES: Readonly<Record<string, State>> = {
  closed: {
    reach: async ({ element }) => {
      element.placement = 'bottom-right'
      element.hide()
    },
    shows: '.launcher',
  },
  'nothing said': { attributes: { src: 'https://edge.example' }, shows: 'fieldset.homes' },
  'a link to nothing': {
    attributes: { linked: '' },
    prepare: (fake) => {
      fake.isMissing = true
    },
    shows: '.empty .primary',
  },
  'a conversation, its steps open': {
    attributes: { developer: '' },
    prepare: told,
    reach: async ({ root }) => {
      await until(() => root.querySelector('.hljs-keyword') !== null && root.querySelector('.step') !== null)
      for (const details of root.querySelectorAll<HTMLDetailsElement>('details')) details.open = true
    },
    shows: '.step pre',
  },
  'a message being edited, files to go with it': {
    prepare: told,
    reach: async (shown) => {
      const pasted = new DataTransfer()
      pasted.setData('text/plain', 'long '.repeat(5_000))
      const paste = { clipboardData: pasted, bubbles: true, cancelable: true }
      shown.find('.composer textarea').dispatchEvent(new ClipboardEvent('paste', paste))
      await pressed(shown, '.message.user .foot > button:nth-last-of-type(2)')
    },
    shows: '.editor textarea',
  },
  'a message to forget': {
    prepare: told,
    reach: (shown) => pressed(shown, '.message.user .foot > button:nth-last-of-type(1)'),
    shows: '.message .confirm',
  },
  'a message that was forgotten': {
    prepare: told,
    reach: async (shown) => {
      await pressed(shown, '.message.user .foot > button:nth-last-of-type(1)')
      await until(() => shown.root.querySelector('.forgetting .danger') !== null)
      await pressed(shown, '.forgetting .danger')
    },
    shows: '.forgetting .certificate',
  },
  'a reply that is awaited': {
    prepare: told,
    reach: async ({ fake }) => fake.stream({ status: 'waiting', reasoning: 'Hm' }),
    shows: '[aria-busy=true] .busy',
  },
  'a reply that calls tools': {
    prepare: told,
    reach: async ({ fake }) =>
      fake.stream({
        status: 'tools',
        text: 'And',
        calls: [{ callId: 'd', name: 'book', input: {}, status: 'running' }],
      }),
    shows: '.step.running',
  },
  'a long conversation, read above its end': {
    prepare: (fake) => {
      fake.setSessions([session('Long')])
      fake.log = Array.from({ length: 60 }, (_, at) => said(at % 2 ? 'assistant' : 'user', `Line ${at}`))
    },
    reach: async ({ find, fake, root }) => {
      find('.scroller').scrollTop = 0
      await until(() => root.querySelector('.to-end') !== null)
      fake.add(said('assistant', 'News'))
    },
    shows: '.to-end button',
  },
  'the menu': {
    reach: async (shown) => {
      const own = document.createElement('button')
      own.slot = 'header'
      own.textContent = 'Own'
      shown.element.append(own)
      shown.element.heading = 'Own'
      await frame()
      if (shown.find('.to-more').checkVisibility()) await pressed(shown, '.to-more')
    },
    shows: '.more .to-memory',
  },
  'cut off, the store full, and a problem': {
    attributes: { src: 'https://edge.example', developer: '' },
    prepare: (fake) => {
      fake.setSessions([session('Turin', { home: 'edge', sessionId: 'fresh' })])
    },
    reach: async ({ fake }) => fake.become({ online: false, storage: 'full', problem }),
    shows: '.notice.bad',
  },
  ...Object.fromEntries(
    (['memory', 'lost', 'blocked'] as const).map((storage) => [
      `a store that is ${storage}`,
      { reach: async ({ fake }: Shown) => fake.become({ storage }), shows: '.notice.bad' },
    ]),
  ),
  conversations: {
    prepare: told,
    reach: async (shown) => {
      await opened(shown, 'sessions')
      await until(() => shown.root.querySelectorAll('.sessions li').length === 2)
      await pressed(shown, '.sessions li:nth-child(1) .tools button:first-child')
      await pressed(shown, '.sessions li:nth-child(2) .tools button:last-child')
    },
    shows: '.sessions [role=group]',
  },
  'no conversation': { reach: (shown) => opened(shown, 'sessions'), shows: '.sessions .nothing' },
  'facts, one being edited': {
    attributes: { developer: '' },
    prepare: told,
    reach: async (shown) => {
      await tab('facts')(shown)
      await pressed(shown, '.fact .acts button:first-child')
    },
    shows: '.fact .editor',
  },
  'a fact to forget': {
    prepare: told,
    reach: async (shown) => {
      await tab('facts')(shown)
      await pressed(shown, '.fact .labels button')
    },
    shows: '.fact .danger',
  },
  'a certificate': {
    prepare: told,
    reach: async (shown) => {
      await tab('facts')(shown)
      await pressed(shown, '.fact .labels button')
      await pressed(shown, '.fact .danger')
    },
    shows: '.certificate',
  },
  'no fact': { reach: tab('facts'), shows: '.memory .nothing' },
  'a memory that cannot be read': {
    prepare: (fake) => {
      fake.fails = 'ERR_STORAGE_FULL'
    },
    reach: tab('facts'),
    shows: '.memory [role=alert]',
  },
  profile: { reach: tab('profile'), shows: '.memory .card' },
  skills: { reach: tab('skills'), shows: '.memory .card' },
  'its data': { reach: tab('data'), shows: '.memory .danger' },
  models: {
    attributes: { developer: '' },
    reach: async (shown) => {
      shown.find('.to-model').click()
      await until(() => shown.root.querySelector('.model form') !== null)
    },
    shows: '.model .choice',
  },
  'what the model will see, before anything is said': {
    reach: (shown) => opened(shown, 'seen'),
    shows: '.seen [role=status]',
  },
}

/** What can be pressed, and is hard to hit: WCAG 2.2, 2.5.8. */
function small(root: ShadowRoot): readonly string[] {
  return [...root.querySelectorAll<HTMLElement>('button, summary, [role=tab]')].flatMap((target) => {
    const { width, height } = target.getBoundingClientRect()
    return target.checkVisibility() && Math.min(width, height) < 24 ? target.outerHTML : []
  })
}

describe.each(looks)('axe finds nothing in $lang, $scheme, $width px, as $placement', (look) => {
  const { lang, scheme, width, placement } = look
  const states = Object.entries(STATES).filter((_, at) => isWhole || looks[at % 2] === look)
  it.each(states)('%s', async (_, { attributes, prepare, reach, shows }) => {
    await page.viewport(width, 800)
    const shown = await show({
      attributes: { ...attributes, lang, placement, style: `color-scheme: ${scheme}` },
      ...(prepare && { prepare }),
    })
    await reach?.(shown)
    await until(() => shown.element.shadowRoot?.querySelector(shows)?.checkVisibility() === true, shows)
    endMovements(shown)
    expect(await violations(shown.element)).toEqual([])
    expect(small(shown.root)).toEqual([])
  })
})

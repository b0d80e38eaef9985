import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { commands, page, userEvent } from 'vitest/browser'
import { LANGUAGES } from '../../src/chat/strings/load.ts'
import { contextAt } from '../../src/operations/context-at.ts'
import { fullMemory } from '../contract/full-memory.ts'
import '../../src/inspector/define.ts'
import {
  clientSource,
  loadStrings,
  type PlimsollInspector,
  sessionSource,
} from '../../src/inspector/index.ts'
import { PlimsollError } from '../../src/ports/errors.ts'
import { mapStore } from '../../src/stores/map.ts'
import { canForceColours, forceColours } from './support/forced-colours.ts'
import { violations } from './support/violations.ts'

let inspector: PlimsollInspector
const trip = await commands.readFile('examples/trip.jsonl')

beforeEach(() => {
  inspector = document.createElement('plimsoll-inspector')
  document.body.append(inspector)
})
afterEach(() => {
  inspector.remove()
  document.documentElement.removeAttribute('dir')
})

const root = () => inspector.shadowRoot as ShadowRoot
const find = <Found extends Element>(selector: string): Found => {
  const found = root().querySelector<Found>(selector)
  if (!found) throw new Error(`no ${selector} in ${text()}`)
  return found
}
const all = (selector: string) => [...root().querySelectorAll<HTMLElement>(selector)]
const said = (element: Element | undefined) => (element?.textContent ?? '').replaceAll(/\s+/g, ' ').trim()
const text = () => said(find('.frame'))
const button = (name: string) => {
  const found = all('button').find((one) => said(one) === name)
  if (!found) throw new Error(`no button ${name}`)
  return found
}
const settled = () =>
  vi.waitFor(() => {
    expect(root().querySelector('progress')).toBe(null)
    expect(text()).not.toContain('Building')
  })
const file = (content: string, name = 'trip.jsonl') => new File([content], name)
async function openTrip() {
  inspector.budget = 3_000
  await inspector.open(file(trip))
  await settled()
}
async function drop(dropped: File) {
  const dataTransfer = new DataTransfer()
  dataTransfer.items.add(dropped)
  const target = find('.frame')
  target.dispatchEvent(new DragEvent('dragover', { dataTransfer, bubbles: true, cancelable: true }))
  await inspector.updateComplete
  const isShown = root().querySelector('.drop') !== null
  target.dispatchEvent(new DragEvent('drop', { dataTransfer, bubbles: true, cancelable: true }))
  await vi.waitFor(() => expect(root().querySelector('.timeline, .notice')).not.toBe(null))
  await settled()
  return isShown
}
async function scrubTo(call: number) {
  const range = find<HTMLInputElement>('input[type=range]')
  range.value = String(call)
  range.dispatchEvent(new Event('input'))
  await vi.waitFor(() => {
    expect(text()).toContain(`Call ${call + 1} of`)
    expect(root().querySelector('.call-bar')).not.toBe(null)
  })
}
async function openTab(name: string) {
  button(name).click()
  await inspector.updateComplete
}
describe('the empty inspector', () => {
  test('invites to drop a file, and loads a sample that crosses the line', async () => {
    expect(text()).toContain('Drop a conversation log here')
    button('Load the sample').click()
    await vi.waitFor(() => expect(root().querySelector('.timeline')).not.toBe(null))
    await settled()
    await vi.waitFor(() => expect(text()).toMatch(/Call (?!1 )\d+ of 42/))
    expect(text()).toContain('over the line in')
    expect(text()).not.toContain('hardly reaches')
    // It opens where the line cuts, which costs more than to go on.
    expect(text()).toMatch(/Against everything ?\d+ more than its \d+/)
    expect(text()).not.toMatch(/[1-9]\d\d% of its/)
  })

  test('says as the chat does that a service gave no answer, and shows what is there once it does', async () => {
    let tell = (): void => {}
    let isThere = false
    inspector.source = clientSource({
      sessionId: 'trip',
      async messages() {
        if (!isThere) throw new PlimsollError('ERR_STORAGE', 'GET /v1/sessions/trip/messages: no answer')
        return []
      },
      context: async () =>
        fullMemory({ store: mapStore(), budget: 3_000 }).session({ userId: 'ada' }).context(),
      contextAt: () => Promise.reject(new Error('none')),
      live(listener) {
        tell = () => listener({ type: 'open' })
        return () => {}
      },
    })
    await vi.waitFor(() => expect(text()).toContain('There is no connection.'))
    expect(text()).not.toContain('/v1/')
    isThere = true
    tell()
    await vi.waitFor(() => expect(text()).toContain('Call 1 of 1'))
    expect(text()).not.toContain('There is no connection.')
  })

  test('keeps to the width of a phone, its way out in the corner', async () => {
    await page.viewport(360, 740)
    const leave = document.createElement('button')
    leave.slot = 'tools'
    leave.textContent = 'X'
    inspector.append(leave)
    button('Load the sample').click()
    await vi.waitFor(() => expect(root().querySelector('.timeline')).not.toBe(null))
    await settled()
    const beyond = all('.frame > *, .card').filter((one) => one.getBoundingClientRect().right > 360)
    expect(beyond.map(({ className }) => className)).toEqual([])
    const corner = leave.getBoundingClientRect()
    expect(corner.top).toBeLessThan(find('.actions').getBoundingClientRect().top)
    expect(corner.right).toBeGreaterThan(330)
    await page.viewport(1_280, 800)
  })

  test('gives the sample a line of its own, and the next log the one from before', async () => {
    inspector.budget = 5_000
    await inspector.updateComplete
    button('Load the sample').click()
    await vi.waitFor(() => expect(inspector.budget).toBe(1_200))
    await vi.waitFor(() => expect(root().querySelector('.timeline')).not.toBe(null))
    await drop(file(trip))
    expect(inspector.budget).toBe(5_000)
    expect(find('input[type=range]').getAttribute('aria-valuetext')).toContain('of 5,000 tokens')
    await inspector.openSample()
    await inspector.open(file(trip))
    expect(inspector.budget).toBe(5_000)
    expect(find('input[type=range]').getAttribute('aria-valuetext')).toContain('of 5,000 tokens')
  })

  test('takes a log that is pasted', async () => {
    button('Paste').click()
    await inspector.updateComplete
    find<HTMLTextAreaElement>('#pasted').value =
      '{"role":"user","content":"Hi"}\n{"role":"assistant","content":"Hello"}'
    button('Read this text').click()
    await vi.waitFor(() => expect(text()).toContain('Call 1 of 1'))
    await settled()
    // Of so small a call a column to scale could not be seen.
    expect(text()).toContain('One call: its column stands at 0% of the line.')
    const parts = all('.timeline rect[fill]').map((part) => Number(part.getAttribute('height')))
    expect(parts.reduce((sum, height) => sum + height, 0)).toBeCloseTo(3)
  })
})

describe('a dropped log', () => {
  test('races, and shows every call against the line', async () => {
    inspector.budget = 3_000
    expect(await drop(file(trip))).toBe(true)
    expect(text()).toContain('Call 1 of 35')
    expect(all('.lane h3').map(said)).toEqual([
      'Plimsoll',
      'Everything',
      'The last 40 messages',
      'The newest that fit',
    ])
    expect(said(all('.lane')[1])).toContain('The cache never broke.')
    expect(said(all('.lane')[0])).toMatch(
      /The cache first broke in call \d+, at byte [\d,]+, in messages\[1\]/,
    )
  })

  test('has “everything” leave its drawing by arrows where that ends, and says how far it goes', async () => {
    await openTrip()
    // A dash along the upper border would be a figure that no call has.
    expect(all('.timeline .beyond').filter((dash) => Number(dash.getAttribute('y')) <= 0)).toEqual([])
    expect(all('.timeline .beyond').length).toBeGreaterThan(0)
    expect(all('.timeline .above').length).toBeGreaterThan(20)
    expect(said(find('.legend'))).toContain('everything, without a line above the drawing, up to 15,000')
    inspector.budget = 100_000
    await vi.waitFor(() => expect(said(find('.legend'))).not.toContain('above the drawing'))
    expect(all('.timeline .beyond, .timeline .above')).toEqual([])
  })

  test('shows the exact context of any call, by the scrubber and by the keyboard', async () => {
    await openTrip()
    await scrubTo(20)
    expect(text()).toContain('Call 21 of 35')
    const range = find<HTMLInputElement>('input[type=range]')
    range.focus()
    await userEvent.keyboard('{ArrowRight}')
    await vi.waitFor(() => expect(text()).toContain('Call 22 of 35'))
    expect(range.getAttribute('aria-valuetext')).toMatch(/^Call 22 of 35, [\d,]+ of 3,000 tokens/)
    await settled()
    const shown = all('.stretch code')
      .map((one) => one.textContent)
      .join('')
    expect(JSON.parse(shown)).toHaveProperty('messages')
  })

  test('shows a call of a tool and its result for people, and the bytes beside them', async () => {
    const call = { name: 'find_trains', arguments: '{"to":"Turin"}' }
    const lines = [
      { role: 'user', content: 'To Turin' },
      { role: 'assistant', content: null, tool_calls: [{ id: 'c1', type: 'function', function: call }] },
      { role: 'tool', tool_call_id: 'c1', content: '{"at":"9:40"}' },
      { role: 'assistant', content: 'There is one.' },
    ]
    await drop(new File([lines.map((line) => JSON.stringify(line)).join('\n')], 'log.jsonl'))
    await scrubTo(1)
    const [called] = all('.stretch').filter((one) => said(one).includes('Called \u2068find_trains\u2069'))
    expect(called).toBeDefined()
    called?.dispatchEvent(new PointerEvent('pointerenter'))
    await vi.waitFor(() => expect(said(find('.tool-steps'))).toMatch(/find_trains\u2069 ?to: Turin/))
    expect(find<HTMLDetailsElement>('.bytes').open).toBe(false)
    expect(find('.bytes summary').textContent).toBe('As it was sent')
    find<HTMLElement>('.bytes summary').click()
    await vi.waitFor(() =>
      expect(find('.bytes code').textContent).toContain('"arguments":"{\\"to\\":\\"Turin\\"}"'),
    )
  })

  test('says of each stretch where it comes from, to the pointer and to the keyboard', async () => {
    await openTrip()
    await scrubTo(20)
    const stretches = all('.stretch')
    stretches[1]?.dispatchEvent(new PointerEvent('pointerenter'))
    await inspector.updateComplete
    expect(said(find('.origin'))).toMatch(/System.*head\/.*Rule.*system.*Trust.*system/)
    stretches[1]?.focus()
    await userEvent.keyboard('{ArrowDown}')
    await vi.waitFor(() => expect(said(find('.origin'))).toContain('Window'))
    expect(root().activeElement).toBe(all('.stretch')[2])
    expect(said(find('.origin'))).toMatch(/m\d+.*(verbatim|capped)/)
    await userEvent.keyboard('{End}')
    expect(root().activeElement).toBe(all('.stretch').at(-1))
  })

  test('says what was left out, and why', async () => {
    await openTrip()
    await scrubTo(30)
    await openTab('Left out')
    expect(said(find('.left'))).toMatch(/Older than the window × \d+/)
  })

  test('shows where two calls part, and why', async () => {
    await openTrip()
    await scrubTo(30)
    await openTab('Difference')
    const other = find<HTMLInputElement>('.panel input')
    other.value = '2'
    other.dispatchEvent(new Event('change'))
    await vi.waitFor(() => expect(text()).toMatch(/They differ from byte [\d,]+ a new epoch/))
    expect(all('.changes [data-change=gone]').length).toBeGreaterThan(0)
    expect(all('.panel .around mark')).toHaveLength(2)
  })

  test('is raced again where the line is moved', async () => {
    await openTrip()
    const before = said(find('.lane .lane-facts'))
    const line = find<HTMLInputElement>('.bar-top input[type=number]')
    line.value = '6000'
    line.dispatchEvent(new Event('change'))
    await vi.waitFor(() => expect(said(find('.lane .lane-facts'))).not.toBe(before))
    await settled()
    expect(find('input[type=range]').getAttribute('aria-valuetext')).toContain('of 6,000 tokens')
  })

  test('of several conversations shows any of them, by a list or, of many, by a number', async () => {
    const short = (id: string, more: number) =>
      JSON.stringify({
        id,
        messages: Array.from({ length: more }, (_, at) => ({
          role: at % 2 ? 'assistant' : 'user',
          content: `Say ${at}`,
        })),
      })
    await inspector.open(file([short('one', 2), short('two', 6)].join('\n')))
    const list = find<HTMLSelectElement>('select')
    expect(said(list)).toContain('two (6 messages)')
    list.value = '1'
    list.dispatchEvent(new Event('change'))
    await vi.waitFor(() => expect(text()).toContain('Call 1 of 3'))
    await inspector.open(
      file(Array.from({ length: 201 }, (_, at) => short(`c${at}`, 2 * (1 + (at % 5)))).join('\n')),
    )
    const number = find<HTMLInputElement>('label input[max="201"]')
    number.value = '5'
    number.dispatchEvent(new Event('change'))
    await vi.waitFor(() => expect(text()).toContain('of 201: c4 (10 messages)'))
    await vi.waitFor(() => expect(text()).toContain('Call 1 of 5'))
  })

  test('can be stopped, and keeps what it has', async () => {
    const [conversation] = trip.split('\n')
    const many = Array.from({ length: 40 }, () => conversation).join('\n')
    inspector.budget = 3_000
    const opened = inspector.open(file(many))
    await vi.waitFor(() => expect(text()).toMatch(/Racing: [1-9]/), { timeout: 15_000 })
    button('Stop').click()
    await opened
    await vi.waitFor(() => expect(text()).toContain('Stopped.'))
    const [, calls] = /over the line in [\d,]+ of ([\d,]+) calls/.exec(text()) ?? []
    expect(Number(calls?.replace(',', ''))).toBeLessThan(40 * 35)
    expect(root().querySelector('.lanes')).not.toBe(null)
    expect(root().querySelector('progress')).toBe(null)
  })

  test('that is broken is reported line by line', async () => {
    await drop(file('{"role":"user","content":"Hi"}\n{"role":\n{"role":"assistant","content":"Hello"}\n'))
    expect(text()).toContain('Call 1 of 1')
    expect(text()).toContain('1 could not be read')
    find<HTMLElement>('.notice summary').click()
    expect(text()).toMatch(/Line 2: .*JSON/)
    await drop(file('Dear diary', 'diary.txt'))
    expect(text()).toContain('Line 1: begins with neither { nor [')
  })

  test('of requests is shown as it is', async () => {
    const messages = [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'Hi' },
    ]
    const line = (call: number, more: readonly object[]) =>
      JSON.stringify({
        conversation: 'c',
        call,
        cap: 500,
        used: 120,
        request: { messages: [...messages, ...more] },
      })
    const answer = { role: 'assistant', content: 'Hello' }
    await drop(file(`${line(0, [])}\n${line(1, [answer])}`, 'requests.jsonl'))
    expect(text()).toContain('Call 1 of 2 120 of 500 tokens, 24%')
    expect(text()).toContain('shares by their bytes')
    expect(root().querySelector('.lanes')).toBe(null)
    await scrubTo(1)
    await openTab('Difference')
    expect(text()).toContain('It repeats all of the other call and only goes on.')
  })
})

describe('a session', () => {
  test('of this page shows every past call, checked, and follows what is written', async () => {
    const memory = fullMemory({ store: mapStore(), budget: 600 })
    const session = memory.session({ userId: 'ada', sessionId: 'tea' })
    const say = async (number: number) => {
      await session.append({ role: 'user', content: `Question ${number}: ${'what of the tea? '.repeat(8)}` })
      await session.context()
      await session.append({ role: 'assistant', content: `Answer ${number}: ${'it is green. '.repeat(8)}` })
    }
    for (let number = 1; number <= 12; number++) await say(number)
    inspector.source = sessionSource(session)
    await vi.waitFor(() => expect(text()).toContain('Call 13 of 13'))
    await settled()
    await scrubTo(4)
    expect(text()).toContain('Rebuilt from the log and checked')
    expect(text()).toContain('Against everything')
    await scrubTo(12)
    await say(13)
    await vi.waitFor(() => expect(text()).toContain('Call 14 of 14'))
    inspector.source = undefined
    await vi.waitFor(() => expect(text()).toContain('Drop a conversation log here'))
  })

  test('is there again when a log over it is closed, and has nothing to close itself', async () => {
    const session = fullMemory({ store: mapStore(), budget: 600 }).session({ userId: 'ada' })
    await session.append({ role: 'user', content: 'Two seats to Turin.' })
    inspector.source = sessionSource(session)
    await vi.waitFor(() => expect(text()).toContain('Call 1 of 1'))
    await settled()
    expect(() => button('Close the log')).toThrow('no button')
    await drop(file(trip))
    expect(text()).toContain('Call 1 of 35')
    button('Close the log').click()
    await vi.waitFor(() => expect(text()).toContain('Call 1 of 1'))
  })

  test('of a small call says that all of it is the floor, and what is kept free beside it', async () => {
    const session = fullMemory({ store: mapStore(), budget: 16_000 }).session({ userId: 'ada' })
    await session.append({ role: 'user', content: 'Hi.' })
    inspector.source = sessionSource(session)
    await vi.waitFor(() => expect(root().querySelector('.legend')).not.toBe(null))
    await settled()
    const { used, margin } = (await session.context({ preview: true })).receipt
    const items = all('.legend li').map(said)
    expect(items).toContain(`Floor ${used} all of this call`)
    expect(items).toContain(`Margin ${new Intl.NumberFormat('en').format(margin)}`)
    expect(said(find('.explained'))).toContain('Kept free')
  })

  test('at an edge shows past calls, and the next one with the tools of its agent', async () => {
    const memory = fullMemory({ store: mapStore(), budget: 600 })
    const session = memory.session({ userId: 'ada', sessionId: 'edge' })
    let heard: (event: { type: string }) => void = () => {}
    const tools = [{ name: 'seats', description: 'Finds seats.', inputSchema: { type: 'object' } }]
    const asked: unknown[] = []
    inspector.source = clientSource({
      sessionId: 'edge',
      messages: (options) => session.history(options),
      context: (options) => {
        asked.push(options.tools)
        return session.context({ ...options, tools })
      },
      contextAt: (id) => contextAt(session, id),
      live: (listener) => {
        heard = listener
        return () => {}
      },
    })
    await vi.waitFor(() => expect(text()).toContain('Call 1 of 1'))
    await session.append({ role: 'user', content: 'Hello edge' })
    // What the edge's agent does.
    await session.context({ tools })
    await session.append({ role: 'assistant', content: 'Hello' })
    heard({ type: 'change' })
    await vi.waitFor(() => expect(text()).toContain('Call 2 of 2'))
    expect(asked.at(-1)).toBe('agent')
    await scrubTo(0)
    await vi.waitFor(() => expect(text()).toContain('Rebuilt from the log and checked'))
  })
})

describe('a tab without anything in it', () => {
  const tab = async (name: 'request' | 'left' | 'diff') => {
    find<HTMLElement>(`#tab-${name}`).click()
    await inspector.updateComplete
    return said(find('.unfilled'))
  }
  const call = (content: string, answer: string) =>
    `${JSON.stringify({ role: 'user', content })}\n${JSON.stringify({ role: 'assistant', content: answer })}`

  test.each(LANGUAGES)('says why, and what fills it, in %s', async (language) => {
    const strings = await loadStrings(language)
    inspector.strings = strings
    const session = fullMemory({ store: mapStore(), budget: 600, system: 'Be brief.' }).session({
      userId: 'ada',
      sessionId: 'unsaid',
    })
    inspector.source = sessionSource(session)
    await vi.waitFor(() => expect(root().querySelector('.unfilled')).not.toBe(null))
    expect(await tab('request')).toBe(strings.requestUnsaid)
    expect(await tab('left')).toBe(strings.nothingLeft)
    expect(await tab('diff')).toBe(strings.compareOnly)
    await session.append({ role: 'user', content: 'Hello' })
    find<HTMLElement>('#tab-request').click()
    await vi.waitFor(() => expect(root().querySelector('.stretches')).not.toBe(null))

    const request = (call: number) =>
      JSON.stringify({ conversation: 'c', call, request: { messages: [{ role: 'user', content: 'Hi' }] } })
    await inspector.open(file(`${request(0)}\n${request(1)}`, 'requests.jsonl'))
    await settled()
    expect(await tab('left')).toBe(strings.leftUnknown)
    expect(await tab('diff')).toBe(strings.compareFirst)
    const other = find<HTMLInputElement>('.panel input')
    other.value = '1'
    other.dispatchEvent(new Event('change'))
    await vi.waitFor(async () => expect(await tab('diff')).toBe(strings.compareSame))

    inspector.budget = 100
    await inspector.open(file(`${call('Hi', 'Hello')}\n${call('word '.repeat(2_000), 'Yes')}`))
    await settled()
    find<HTMLElement>(`[aria-label="${strings.next}"]`).click()
    await vi.waitFor(async () => expect(await tab('request')).toBe(strings.requestRefused))
    expect(await tab('left')).toBe(strings.requestRefused)
    expect(await tab('diff')).toBe(strings.compareNothing)
    expect(await violations(inspector)).toEqual([])
  })
})

describe('for everybody', () => {
  test.each([
    ['ltr', 'light', '360px'],
    ['rtl', 'dark', '1280px'],
  ])('has no violation that axe finds, in any of its states, %s, %s, %s', async (dir, scheme, width) => {
    document.documentElement.dir = dir
    inspector.style.colorScheme = scheme
    inspector.style.inlineSize = width
    expect(await violations(inspector)).toEqual([])
    await openTrip()
    await scrubTo(30)
    for (const tab of ['Request', 'Left out', 'Difference']) {
      await openTab(tab)
      expect(await violations(inspector)).toEqual([])
    }
    await drop(file('Dear diary', 'diary.txt'))
    expect(await violations(inspector)).toEqual([])
  })

  test('moves between tabs with the arrow keys', async () => {
    await openTrip()
    find<HTMLElement>('#tab-request').focus()
    await userEvent.keyboard('{ArrowRight}')
    await vi.waitFor(() => expect(root().activeElement?.id).toBe('tab-left'))
    expect(find('#tab-left').getAttribute('aria-selected')).toBe('true')
  })

  test('keeps the focus where what had it goes away', async () => {
    button('Load the sample').focus()
    button('Load the sample').click()
    await vi.waitFor(() => expect(root().activeElement).toBe(find('input[type=range]')))
    button('Close the log').focus()
    button('Close the log').click()
    await vi.waitFor(() => expect(root().activeElement).toBe(button('Load the sample')))
  })

  test.each(['ltr', 'rtl'])('takes a click on a column as that call, %s', async (dir) => {
    document.documentElement.dir = dir
    await openTrip()
    const timeline = find('.timeline')
    const { left, top, width, height } = timeline.getBoundingClientRect()
    const share = (dir === 'rtl' ? 35 - 11.5 : 11.5) / 35
    const at = { clientX: left + share * width, clientY: top + height / 2, bubbles: true }
    timeline.dispatchEvent(new MouseEvent('click', at))
    await vi.waitFor(() => expect(text()).toContain('Call 12 of 35'))
    const chosen = find('.chosen').getBoundingClientRect()
    expect(at.clientX).toBeGreaterThan(chosen.left)
    expect(at.clientX).toBeLessThan(chosen.right)
  })

  test.each([360, 480, 768, 1_000, 1_600])(
    'keeps each fact of a call in one line, at %i px',
    async (width) => {
      inspector.style.inlineSize = `${width}px`
      inspector.strings = await loadStrings('de')
      await openTrip()
      // The call at which a new epoch began: its figures are the longest.
      find<HTMLInputElement>('input[type=range]').value = '12'
      find('input[type=range]').dispatchEvent(new Event('input'))
      await vi.waitFor(() => expect(text()).toContain('Aufruf 13 von'))
      await settled()
      const labels = all('.facts dt')
      expect(labels.length).toBe(6)
      const figures = all('.facts dd').filter((one) => one.querySelector('strong'))
      expect(figures.length).toBe(4)
      const linesOf = (one: HTMLElement) =>
        one.clientHeight / Number.parseFloat(getComputedStyle(one).lineHeight)
      const broken = [...labels, ...figures].filter((one) => linesOf(one) > 1.5)
      expect(broken.map(said)).toEqual([])
    },
  )

  test('is no wider than a narrow page', async () => {
    inspector.style.inlineSize = '320px'
    await openTrip()
    await scrubTo(30)
    for (const tab of ['Request', 'Left out', 'Difference']) {
      await openTab(tab)
      expect(find<HTMLElement>('.frame').scrollWidth).toBeLessThanOrEqual(320)
    }
  })
})

test.skipIf(!canForceColours)('progress is to be seen where the page has few colours', async () => {
  await forceColours(true)
  const progress = document.createElement('progress')
  root().append(progress)
  expect(getComputedStyle(progress).forcedColorAdjust).toBe('none')
  await forceColours(false)
})

test.each(LANGUAGES)('all of its tabs are in sight in a window of 320 px: %s', async (language) => {
  await page.viewport(320, 800)
  inspector.strings = await loadStrings(language)
  await openTrip()
  const { clientWidth, scrollWidth } = find('.tabs')
  expect(scrollWidth).toBeLessThanOrEqual(clientWidth)
  expect(document.documentElement.scrollWidth).toBeLessThanOrEqual(320)
  await page.viewport(414, 896)
})

/**
 * The page of `web/` in a real Chromium: with a real edge behind it, and from any host with the
 * memory of the browser alone.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium,
  type Locator,
  type Page,
} from 'playwright'
import type { PreviewServer } from 'vite'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { createClient } from '../../src/client/index.ts'
import { findHeadless, flags } from '../chromium.ts'
import { isWhole } from '../everywhere/runs.ts'
import { EdgeProcess } from './support/edge-process.ts'
import { type ModelServer, modelServer } from './support/model-server.ts'
import { type BuiltPage, buildPage, ChatScreen, servePage } from './support/pwa.ts'
import type { ChatReply } from './use-chat.ts'

// Builds, an edge and a browser share the machine.
vi.setConfig({ testTimeout: 120_000, maxConcurrency: 3 })

const executablePath = findHeadless()
const launch = { args: flags, ...(executablePath && { executablePath }) }
const axe = readFileSync('node_modules/axe-core/axe.min.js', 'utf8')

let browser: Browser
let atEdge: BuiltPage
let edge: EdgeProcess
let model: ModelServer
let static_: BuiltPage
let host: PreviewServer

beforeAll(async () => {
  ;[browser, atEdge, static_, model] = await Promise.all([
    chromium.launch(launch),
    buildPage('production'),
    buildPage('static'),
    modelServer(answerTo),
  ])
  ;[edge, host] = await Promise.all([
    EdgeProcess.start({ MODEL_BASE_URL: model.url, MODEL_ID: 'tests' }, atEdge.folder),
    servePage(static_),
  ])
}, 120_000)

afterAll(async () => {
  await browser?.close()
  await Promise.all([edge?.stop(), host?.close(), model?.close()])
  atEdge?.remove()
  static_?.remove()
})

const staticUrl = (): string => host.resolvedUrls?.local[0] ?? ''

/**
 * What the model says to each text, once. Tests run beside each other and share the model, so no
 * two of them say the same.
 */
const answers = new Map<string, ChatReply>()

/** The answer to the text that comes last in a request. */
function answerTo(request: string): ChatReply | undefined {
  const place = (text: string): number => request.lastIndexOf(JSON.stringify(text).slice(1, -1))
  const [last] = [...answers.keys()].sort((one, other) => place(other) - place(one))
  if (last === undefined || place(last) < 0) return undefined
  const answer = answers.get(last)
  answers.delete(last)
  return answer
}

/** Browsers of one test, which close when it ends; by then no tab may have reported an error. */
class Visits {
  readonly #contexts: BrowserContext[] = []
  readonly #errors: string[] = []

  /** A browser profile of its own, of somebody who wants nothing to move: that takes time. */
  async profile(options: BrowserContextOptions = {}): Promise<BrowserContext> {
    return this.add(
      await browser.newContext({
        locale: 'en-GB',
        viewport: { width: 1_440, height: 900 },
        reducedMotion: 'reduce',
        ...options,
      }),
    )
  }

  /** One that stores no page: the worker of each fetches all files of the page. */
  briefly(options: BrowserContextOptions = {}): Promise<BrowserContext> {
    return this.profile({ serviceWorkers: 'block', ...options })
  }

  add(context: BrowserContext): BrowserContext {
    this.#contexts.push(context)
    return context
  }

  /**
   * A tab, which may report no error, among them what the content security policy keeps from being
   * loaded.
   */
  async tab(context: BrowserContext | Promise<BrowserContext>, url: string): Promise<ChatScreen> {
    const page = await (await context).newPage()
    page.on('pageerror', ({ message }) => this.#errors.push(message))
    page.on('console', (message) => {
      if (message.type() === 'error' && !isOffline(message.text())) this.#errors.push(message.text())
    })
    await page.goto(url)
    return new ChatScreen(page)
  }

  /** @returns what its tabs reported */
  async end(): Promise<readonly string[]> {
    await Promise.all(this.#contexts.map((context) => context.close()))
    return this.#errors
  }
}

const it = test.extend<{ visits: Visits }>({
  // biome-ignore lint/correctness/noEmptyPattern: Vitest reads here which fixtures it needs
  visits: async ({}, use) => {
    const visits = new Visits()
    await use(visits)
    expect(await visits.end()).toEqual([])
  },
})

/** What Chromium itself logs of every request without a network. */
const isOffline = (text: string): boolean => /ERR_INTERNET_DISCONNECTED/.test(text)

/**
 * Runs axe in a tab, outside of the page's policy, which lets no string be code.
 *
 * @returns what is wrong by the rules that are named, or by all
 */
async function axeIn(page: Page): Promise<(rules?: readonly string[]) => Promise<readonly string[]>> {
  const session = await page.context().newCDPSession(page)
  const { frameTree } = await session.send('Page.getFrameTree')
  const { executionContextId } = await session.send('Page.createIsolatedWorld', {
    frameId: frameTree.frame.id,
  })
  const run = async (expression: string): Promise<unknown> => {
    const { result, exceptionDetails } = await session.send('Runtime.evaluate', {
      contextId: executionContextId,
      awaitPromise: true,
      returnByValue: true,
      expression,
    })
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text)
    return result.value
  }
  await run(`${axe}; 0`)
  return async (rules) => {
    // What passes is not told in full: that takes as long as to look.
    const options = { resultTypes: ['violations'], ...(rules && { runOnly: rules }) }
    return (await run(
      `axe.run(document, ${JSON.stringify(options)}).then(({ violations }) => violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => id + ': ' + html)))`,
    )) as string[]
  }
}

/** A script says its words one by one, and who takes a lease over waits for its end. */
const PATIENCE = { timeout: 20_000 }
const HOME = ['Messages not yet at the service: 0', 'Messages not yet at the service: 0']

describe.concurrent('with an edge behind it', () => {
  it('shows a first visitor an empty conversation, and a reply as it comes', async ({ visits, expect }) => {
    const chat = await visits.tab(visits.profile(), edge.url)
    await expect
      .poll(() => chat.page.getByRole('heading', { name: 'Plimsoll', level: 2 }).isVisible())
      .toBe(true)
    let finish = (): void => {}
    answers.set('When does it leave?', {
      text: 'It leaves at 9:40',
      until: new Promise<void>((done) => (finish = done)),
    })
    await chat.say('When does it leave?')
    await expect.poll(() => chat.page.locator('[aria-busy=true] .prose').textContent()).toMatch(/It leaves/)
    finish()
    await expect.poll(() => chat.texts()).toEqual(['When does it leave?', 'It leaves at 9:40'])
    await expect
      .poll(() => chat.page.getByText('At the service', { exact: true }).first().isVisible())
      .toBe(true)
    expect(new URL(chat.page.url()).hash).toMatch(/^#session=/)
  })

  it('shows what its model was given, call by call, proven by the log', async ({ visits, expect }) => {
    const chat = await visits.tab(visits.briefly(), edge.url)
    for (const [asked, text] of ['Two seats to Genoa.', 'On Monday.'].entries()) {
      answers.set(text, { text: 'Noted.' })
      await chat.say(text)
      await expect.poll(() => chat.texts()).toHaveLength(2 * (asked + 1))
      await expect.poll(() => chat.page.locator('[aria-busy=true]').count()).toBe(0)
    }
    await chat.button('Inspector').click()
    await expect.poll(() => chat.page.getByText('Call 3 of 3').count()).toBe(1)
    await chat.page.getByRole('slider').fill('0')
    await expect.poll(() => chat.page.getByText('Rebuilt from the log and checked').count()).toBe(1)
    mkdirSync('dist/screenshots', { recursive: true })
    await chat.page.screenshot({ path: 'dist/screenshots/edge-inspector.png' })
  })

  it('says what it is, and shows it with a click', async ({ visits, expect }) => {
    const chat = await visits.tab(visits.briefly({ locale: 'de-DE' }), staticUrl())
    const { page } = chat
    await expect
      .poll(() => page.getByText('dessen Gedächtnis nie über die Linie lädt').isVisible())
      .toBe(true)
    await page.getByRole('button', { name: 'Zeig mir die Linie bei der Arbeit' }).click()
    await expect
      .poll(() =>
        page
          .locator('plimsoll-inspector')
          .getByText(/Aufruf (?!1 )\d+ von 42/)
          .count(),
      )
      .toBe(1)
    await page.keyboard.press('Escape')
    expect(await page.locator('.first li').allInnerTexts()).toContain('Plane ein Wochenende in Turin.')
    await page.getByRole('button', { name: 'Merk dir, dass ich gern am Fenster sitze.' }).click()
    await expect
      .poll(() => page.locator('.chip').allInnerTexts())
      .toEqual([expect.stringContaining('am Fenster')])
    await expect.poll(async () => (await chat.texts()).at(-1)).toContain('Das ist eine Demo nach Skript')
    await page.getByRole('textbox', { name: 'Nachricht schreiben' }).fill('Plane ein Wochenende in Turin.')
    await page.keyboard.press('Enter')
    await expect
      .poll(async () => (await chat.texts()).at(-1))
      .toContain('Gemerkt ist: “Sie sitzen gern am Fenster.”')
    await expect
      .poll(() => page.locator('.chip').allInnerTexts())
      .toEqual([
        expect.stringContaining('am Fenster'),
        expect.stringContaining('Züge nach Turin'),
        expect.stringContaining('Hotel in Turin'),
      ])
  })

  it('shows whole what it is and what to try at 200 %, and at 320 px moves in one direction alone', async ({
    visits,
    expect,
  }) => {
    // 1,280 by 800 at 200 %, and 1,280 by 1,024 at 400 %.
    const zoomed = await visits.tab(visits.briefly({ viewport: { width: 640, height: 400 } }), edge.url)
    await zoomed.page.locator('.worlds button').waitFor()
    const box = async (locator: Locator) =>
      (await locator.boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 }
    const room = await box(zoomed.page.locator('plimsoll-chat .scroller'))
    const whole = [zoomed.page.locator('.first h2'), ...(await zoomed.page.locator('.first li button').all())]
    expect(whole).toHaveLength(5)
    for (const { y, height } of await Promise.all(whole.map(box))) {
      expect(y).toBeGreaterThan(room.y)
      expect(y + height).toBeLessThan(room.y + room.height)
    }
    for (const url of [edge.url, staticUrl()]) {
      const { page } = await visits.tab(visits.briefly({ viewport: { width: 320, height: 256 } }), url)
      await page.locator('.worlds button').waitFor()
      const scroller = page.locator('plimsoll-chat .scroller')
      expect((await box(scroller)).height).toBeGreaterThan(80)
      const beyond = (element: unknown): number => {
        const { scrollWidth, clientWidth } = element as Record<'scrollWidth' | 'clientWidth', number>
        return scrollWidth - clientWidth
      }
      for (const one of [page.locator('html'), scroller, page.locator('plimsoll-chat .head .home span')])
        expect(await one.first().evaluate(beyond)).toBeLessThanOrEqual(0)
    }
  })

  it('inspects a sample before anything was said, then the conversation by its title', async ({
    visits,
    expect,
  }) => {
    const chat = await visits.tab(visits.briefly(), edge.url)
    await chat.button('Inspector').click()
    const inspector = chat.page.locator('plimsoll-inspector')
    await expect.poll(() => inspector.getByText(/Call (?!1 )\d+ of 42/).count()).toBe(1)
    await expect.poll(() => inspector.getByRole('alert').count()).toBe(0)
    await chat.page.keyboard.press('Escape')
    await expect.poll(() => inspector.isVisible()).toBe(false)
    await chat.button('Inspector').click()
    answers.set('Two seats to Turin.', { text: 'Noted.' })
    await chat.say('Two seats to Turin.')
    await expect.poll(() => inspector.getByText('Call 2 of 2').count()).toBe(1)
    await expect
      .poll(() => inspector.getByRole('heading', { level: 2 }).first().textContent())
      .toContain('Two seats to Turin.')
    await chat.page.setViewportSize({ width: 360, height: 740 })
    await chat.button('Close the inspector').click()
    await expect.poll(() => inspector.isVisible()).toBe(false)
    // The button that opened it is in the menu, which is closed: the focus is at what opens that.
    await expect.poll(() => chat.page.locator('plimsoll-chat .to-more:focus').count()).toBe(1)
    await chat.button('More').click()
    await expect.poll(() => chat.button('Inspector').getAttribute('aria-expanded')).toBe('false')
  })

  it('keeps a conversation in this browser where that is wished, and the next one, too', async ({
    visits,
    expect,
  }) => {
    const chat = await visits.tab(visits.briefly(), edge.url)
    await chat.page.getByRole('radio', { name: 'On this device' }).check({ force: true })
    await chat.say('Between us two.')
    await expect.poll(() => chat.texts()).toHaveLength(2)
    await expect.poll(() => chat.page.locator('.home').getByText('On this device').count()).toBe(1)
    await chat.page.reload()
    await expect.poll(() => chat.texts()).toHaveLength(2)
    await expect.poll(() => chat.page.locator('.home').getByText('On this device').count()).toBe(1)
    await chat.button('New conversation').first().click()
    await expect.poll(() => chat.page.getByRole('radio', { name: 'On this device' }).isChecked()).toBe(true)
  })

  it('stops a reply, and keeps what came of it', async ({ visits, expect }) => {
    const chat = await visits.tab(visits.briefly(), edge.url)
    let finish = (): void => {}
    answers.set('Count.', {
      text: 'One two three four',
      until: new Promise<void>((done) => (finish = done)),
    })
    await chat.say('Count.')
    await expect.poll(() => chat.page.locator('[aria-busy=true] .prose').textContent()).toMatch(/three/)
    await chat.button('Stop the reply').click()
    await expect.poll(() => chat.button('Stop the reply').count()).toBe(0)
    finish()
    await expect.poll(() => chat.texts()).toEqual(['Count.', 'One two three'])
  })

  it('goes on with a reply when the page is reloaded in the middle of it', async ({ visits, expect }) => {
    const chat = await visits.tab(visits.briefly(), edge.url)
    let finish = (): void => {}
    answers.set('Count again.', {
      text: 'One two three four',
      until: new Promise<void>((done) => (finish = done)),
    })
    await chat.say('Count again.')
    await expect.poll(() => chat.page.locator('[aria-busy=true] .prose').textContent()).toMatch(/three/)
    await chat.page.reload()
    await expect.poll(() => chat.page.locator('[aria-busy=true] .prose').textContent()).toMatch(/three/)
    finish()
    await expect.poll(() => chat.texts()).toEqual(['Count again.', 'One two three four'])
  })

  it('edits a message, has it answered again, and comes back to the version before', async ({
    visits,
    expect,
  }) => {
    const chat = await visits.tab(visits.briefly(), edge.url)
    answers.set('When to Turin?', { text: 'To Turin it is 9:40.' })
    answers.set('When to Genoa?', { text: 'To Genoa it is 10:10.' })
    await chat.say('When to Turin?')
    await expect.poll(() => chat.texts()).toEqual(['When to Turin?', 'To Turin it is 9:40.'])
    await chat.messages.first().hover()
    await chat.button('Edit').click()
    await chat.page.getByRole('textbox', { name: 'Edit your message' }).fill('When to Genoa?')
    await chat.button('Send again').click()
    await expect.poll(() => chat.texts()).toEqual(['When to Genoa?', 'To Genoa it is 10:10.'])
    await chat.button('The version before').click()
    await expect.poll(() => chat.texts()).toEqual(['When to Turin?', 'To Turin it is 9:40.'])
    await chat.button('The version after').click()
    await expect.poll(() => chat.texts()).toEqual(['When to Genoa?', 'To Genoa it is 10:10.'])
    await chat.page.reload()
    await expect.poll(() => chat.texts()).toEqual(['When to Genoa?', 'To Genoa it is 10:10.'])
  })

  it('shows in a second tab what is said in the first, and the other way round', async ({
    visits,
    expect,
  }) => {
    const context = await visits.briefly()
    const one = await visits.tab(context, edge.url)
    answers.set('From the first tab.', { text: 'First reply.' })
    answers.set('From the second tab.', { text: 'Second reply.' })
    await one.say('From the first tab.')
    await expect.poll(() => one.texts()).toHaveLength(2)
    const two = await visits.tab(context, one.page.url())
    await expect.poll(() => two.texts()).toEqual(['From the first tab.', 'First reply.'])
    await two.say('From the second tab.')
    await expect.poll(() => two.texts()).toHaveLength(4)
    await expect.poll(() => one.texts()).toEqual(await two.texts())
  })

  it('keeps what is written offline over a reload, and sends it in order when the network is back', async ({
    visits,
    expect,
  }) => {
    const context = await visits.profile()
    const chat = await visits.tab(context, edge.url)
    answers.set('Hello?', { text: 'Hello.' })
    await chat.say('Hello?')
    await expect.poll(() => chat.texts()).toEqual(['Hello?', 'Hello.'])
    await chat.page.evaluate('navigator.serviceWorker.ready.then(() => 1)')
    for (const text of ['Written offline, one.', 'Written offline, two.'])
      answers.set(text, { text: 'Both are here.' })
    await context.setOffline(true)
    await chat.say('Written offline, one.')
    await expect.poll(() => chat.page.getByText('Waiting for a connection').count()).toBe(1)
    await chat.page.reload()
    await expect.poll(() => chat.texts()).toEqual(['Hello?', 'Hello.', 'Written offline, one.'])
    await chat.say('Written offline, two.')
    await expect.poll(() => chat.page.getByText('Waiting for a connection').count()).toBe(2)
    // The list, what was said, and what signing out would lose are here.
    await chat.page.getByRole('searchbox', { name: 'Search conversations' }).fill('offline')
    await expect
      .poll(() => chat.page.locator('.sessions li').allInnerTexts())
      .toEqual([expect.stringContaining('Hello?')])
    mkdirSync('dist/screenshots', { recursive: true })
    await chat.page.screenshot({ path: 'dist/screenshots/edge-offline.png' })
    await chat.page.getByRole('searchbox', { name: 'Search conversations' }).fill('')
    const signedOut = `document.querySelector('plimsoll-chat').signOut({ erase: true })`
    expect(await chat.page.evaluate(signedOut)).toMatchObject({
      done: false,
      // The list of sessions may wait too.
      lost: expect.arrayContaining([expect.objectContaining({ waiting: 2 })]),
    })
    await expect.poll(() => chat.texts()).toHaveLength(4)
    await context.setOffline(false)
    await expect.poll(() => chat.page.getByText('Waiting for a connection').count()).toBe(0)
    const own = async (): Promise<string[]> =>
      (await chat.texts()).filter((text) => text.startsWith('Written'))
    await expect.poll(own).toEqual(['Written offline, one.', 'Written offline, two.'])
    await expect.poll(async () => (await chat.texts()).at(-1)).toBe('Both are here.')
    await chat.page.reload()
    await expect.poll(own).toEqual(['Written offline, one.', 'Written offline, two.'])
  })

  it('lets a guest leave this browser, and says first what goes, what stays and what was not sent', async ({
    visits,
    expect,
  }) => {
    const context = await visits.profile()
    const chat = await visits.tab(context, edge.url)
    const { page } = chat
    answers.set('canary-2b7d in the open', { text: 'Read.' })
    await chat.say('canary-2b7d in the open')
    await expect.poll(() => chat.texts()).toHaveLength(2)
    await page.evaluate('navigator.serviceWorker.ready.then(() => 1)')
    const dialog = page.getByRole('dialog', { name: 'Sign out of this browser?' })
    await chat.button('Sign out').press('Enter')
    await dialog.waitFor()
    expect(await dialog.textContent()).toMatch(/You are a guest: .* on \d+ \w+ \d{4}; until then nobody/)
    expect(await dialog.getByText('This would be lost').isVisible()).toBe(false)
    await page.keyboard.press('Escape')
    await expect.poll(() => page.locator('#sign-out:focus').count()).toBe(1)
    await context.setOffline(true)
    await chat.say('canary-2b7d not sent')
    await expect.poll(() => page.getByText('Waiting for a connection').count()).toBe(1)
    await chat.button('Sign out').press('Enter')
    await dialog.waitFor()
    expect(await dialog.textContent()).toMatch(/Messages and changes that were not sent: [12]/)
    expect(await page.locator('#stay:focus').count()).toBe(1)
    const violations = await axeIn(page)
    expect(await violations()).toEqual([])
    await page.screenshot({ path: 'dist/screenshots/edge-sign-out.png' })
    const stored = async (): Promise<string> =>
      JSON.stringify(await context.storageState({ indexedDB: true }))
    await page.keyboard.press('Enter')
    await expect.poll(() => dialog.isVisible()).toBe(false)
    expect(await chat.texts()).toHaveLength(3)
    expect(await stored()).toContain('canary-2b7d')
    await chat.button('Sign out').press('Enter')
    const loaded = page.waitForEvent('load')
    await dialog.getByRole('button', { name: 'Sign out' }).press('Enter')
    await loaded
    await expect.poll(() => page.getByRole('heading', { name: 'Plimsoll', level: 2 }).isVisible()).toBe(true)
    expect(await chat.texts()).toEqual([])
    expect(await stored()).not.toContain('canary-2b7d')
    await context.setOffline(false)
    await page.reload()
    await expect.poll(() => page.getByText('Your conversations will be listed here.').isVisible()).toBe(true)
  })

  it.runIf(isWhole)(
    'has one reply to a message where the edge answers what devices push, too',
    async ({ visits, expect }) => {
      const shared = await EdgeProcess.start(
        { LEASE: 'on', MODEL_BASE_URL: model.url, MODEL_ID: 'tests' },
        atEdge.folder,
      )
      try {
        const context = await visits.briefly()
        const chat = await visits.tab(context, shared.url)
        const answered = async (...texts: readonly string[]): Promise<void> => {
          await expect.poll(() => chat.texts(), { timeout: 30_000 }).toEqual(texts)
          // By now the other one would have answered, too.
          await chat.page.waitForTimeout(2_500)
          expect(await chat.texts()).toEqual(texts)
        }
        answers.set('The widget is first.', { text: 'Once.' })
        await chat.say('The widget is first.')
        await answered('The widget is first.', 'Once.')
        // The widget asks when the edge has begun, or has answered, by itself.
        let late = 0
        await context.route('**/chat', async (route) => {
          late++
          await new Promise((resolve) => setTimeout(resolve, 3_000))
          await route.continue()
        })
        await context.setOffline(true)
        answers.set('The edge is first.', { text: 'Once more.' })
        await chat.say('The edge is first.')
        await expect.poll(() => chat.page.getByText('Waiting for a connection').count()).toBe(1)
        await context.setOffline(false)
        await answered('The widget is first.', 'Once.', 'The edge is first.', 'Once more.')
        expect(late).toBe(1)
        await expect.poll(() => chat.page.locator('.notice.bad').count()).toBe(0)
        await context.close()
      } finally {
        await shared.stop()
      }
    },
  )

  it('shows what another device says and is answered, as it is said', async ({ visits, expect }) => {
    const chat = await visits.tab(visits.briefly(), edge.url)
    answers.set('Hello from here.', { text: 'Hello.' })
    await chat.say('Hello from here.')
    await expect.poll(() => chat.texts()).toEqual(['Hello from here.', 'Hello.'])
    const identity = await chat.page.evaluate(`localStorage.getItem('plimsoll-chat/identity')`)
    const { guestToken } = JSON.parse(String(identity)) as { readonly guestToken: string }
    const sessionId = new URLSearchParams(new URL(chat.page.url()).hash.slice(1)).get('session') ?? ''
    const there = createClient({ baseUrl: edge.url, token: guestToken }).session(sessionId)
    answers.set('And from there?', { text: 'Hello to both.' })
    await there.chat('And from there?').result()
    await expect
      .poll(() => chat.texts())
      .toEqual(['Hello from here.', 'Hello.', 'And from there?', 'Hello to both.'])
  })

  it('has two windows with one hash when the plug is in, whichever was cut off, and erases both', async ({
    visits,
    expect,
  }) => {
    const { page } = await visits.tab(visits.briefly({ viewport: { width: 360, height: 800 } }), edge.url)
    const asked: string[] = []
    page.on('request', (request) => asked.push(`${request.method()} ${new URL(request.url()).pathname}`))
    const unplug = page.locator('.unplug')
    await unplug.getByRole('button', { name: 'Begin with a new guest' }).waitFor()
    // No guest but that of the chat is made, and nothing sent, before somebody asks for it.
    const guests = (): number => asked.filter((line) => line === 'POST /v1/guests').length
    await expect.poll(guests).toBe(1)
    expect(asked.filter((line) => line.includes('/v1/sync/push'))).toEqual([])
    await unplug.getByRole('button', { name: 'Begin with a new guest' }).click()
    const [laptop, phone] = ['Laptop', 'Phone'].map((name) => page.getByRole('region', { name })) as [
      Locator,
      Locator,
    ]
    const plug = page.getByRole('slider', { name: 'Plug' })
    const say = async (pane: Locator, text: string): Promise<void> => {
      await pane.getByLabel('Message').fill(text)
      await pane.getByLabel('Message').press('Enter')
    }
    const whole = (pane: Locator): Promise<string[]> => pane.locator('li:not(.coming)').allTextContents()
    const hashes = (): Promise<string[]> => unplug.locator('.hash').allTextContents()
    const expectOne = async (count: number): Promise<void> => {
      for (const pane of [laptop, phone]) await expect.poll(() => whole(pane), PATIENCE).toHaveLength(count)
      await expect.poll(() => unplug.locator('.waiting').allTextContents(), PATIENCE).toEqual(HOME)
      await expect.poll(async () => new Set(await hashes()).size, PATIENCE).toBe(1)
      expect((await hashes())[0]).toMatch(/^[0-9a-f]{16}$/)
      expect(await whole(phone)).toEqual(await whole(laptop))
      expect(await unplug.getByText('Both hold the same.').isVisible()).toBe(true)
    }
    await say(laptop, 'Two seats to Turin.')
    await expectOne(2)
    expect(guests()).toBe(2)

    // By the keyboard, in the middle of a reply: the other window gives it.
    await say(phone, 'And back?')
    await unplug.locator('.coming').waitFor()
    const isPhone = (await phone.locator('.coming').count()) > 0
    const [cut, other] = isPhone ? [phone, laptop] : [laptop, phone]
    // Nobody could go on with what is cut off before it was sent.
    await expect.poll(() => whole(other), { ...PATIENCE, interval: 20 }).toContain('And back?')
    await plug.press(isPhone ? 'ArrowLeft' : 'ArrowRight')
    expect(await plug.getAttribute('aria-valuetext')).toBe(
      isPhone ? 'The Phone is unplugged.' : 'The Laptop is unplugged.',
    )
    await expect.poll(() => whole(other), PATIENCE).toHaveLength(4)
    await say(cut, 'By the window.')
    await say(other, 'In the morning.')
    await expect.poll(() => whole(other), PATIENCE).toHaveLength(6)
    await expect.poll(async () => new Set(await hashes()).size, PATIENCE).toBe(2)
    await expect.poll(() => unplug.getByText('They hold different things.').isVisible()).toBe(true)
    await expect.poll(() => cut.locator('.waiting').textContent()).toMatch(/: [12]$/)

    // By dragging it back to the middle.
    await plug.scrollIntoViewIfNeeded()
    const { x, y, width, height } = (await plug.boundingBox()) as NonNullable<
      Awaited<ReturnType<Locator['boundingBox']>>
    >
    await page.mouse.move(isPhone ? x + 20 : x + width - 20, y + height / 2)
    await page.mouse.down()
    await page.mouse.move(x + width / 2, y + height / 2, { steps: 4 })
    await page.mouse.up()
    expect(await plug.getAttribute('aria-valuetext')).toBe('Both are plugged in.')
    await expectOne(8)
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(360)
    const violations = await axeIn(page)
    expect(await violations()).toEqual([])
    mkdirSync('dist/screenshots', { recursive: true })
    await unplug.screenshot({ path: 'dist/screenshots/unplug-phone.png' })

    await unplug.getByRole('button', { name: 'End, and erase it at the service' }).click()
    await expect.poll(() => unplug.getByText('Erased: in both windows').isVisible(), PATIENCE).toBe(true)
    expect(await unplug.getByRole('alert').count()).toBe(0)
    expect(asked.filter((line) => line === 'DELETE /v1/me')).toHaveLength(1)
  })

  it('can be installed', async ({ visits, expect }) => {
    const folder = mkdtempSync(join(tmpdir(), 'plimsoll-profile-'))
    // A private window cannot install anything.
    const context = visits.add(await chromium.launchPersistentContext(folder, { ...launch, locale: 'en-GB' }))
    const chat = await visits.tab(context, edge.url)
    await chat.page.evaluate('navigator.serviceWorker.ready.then(() => 1)')
    const session = await context.newCDPSession(chat.page)
    const { installabilityErrors } = await session.send('Page.getInstallabilityErrors')
    expect(installabilityErrors).toEqual([])
    const { url, errors: faults } = await session.send('Page.getAppManifest')
    expect([new URL(url).pathname, faults]).toEqual(['/manifest.webmanifest', []])
    await context.close()
    rmSync(folder, { recursive: true, force: true })
  })
})

describe.concurrent('from any host, with the memory of the browser alone', () => {
  it('answers by the scripted demo, says so, and has it all after a reload without a network', async ({
    visits,
    expect,
  }) => {
    const context = await visits.profile()
    const chat = await visits.tab(context, staticUrl())
    await chat.say('Two seats to Turin.')
    await expect.poll(() => chat.texts()).toHaveLength(2)
    await expect.poll(() => chat.page.getByText('Scripted demo').first().isVisible()).toBe(true)
    await expect.poll(() => chat.page.locator('.home').getByText('On this device').isVisible()).toBe(true)
    const before = await chat.texts()
    await chat.page.evaluate('navigator.serviceWorker.ready.then(() => 1)')
    await context.setOffline(true)
    await chat.page.reload()
    await expect.poll(() => chat.texts()).toEqual(before)
    await chat.say('And back.')
    await expect.poll(() => chat.texts()).toHaveLength(4)
  })

  it('takes a new version over when the user agrees, and not before', async ({ visits, expect }) => {
    const chat = await visits.tab(visits.profile(), staticUrl())
    await chat.page.evaluate('navigator.serviceWorker.ready.then(() => 1)')
    // The first visit is served by no worker, so that a newer one would have nothing to wait for.
    await chat.page.reload()
    await chat.say('Said to the old version.')
    await expect.poll(() => chat.texts()).toHaveLength(2)
    const script = join(static_.folder, 'sw.js')
    const before = readFileSync(script, 'utf8')
    try {
      writeFileSync(script, `${before}\n// A newer version.`)
      await chat.page.evaluate(
        'navigator.serviceWorker.getRegistration().then((one) => one.update()).then(() => 1)',
      )
      await expect.poll(() => chat.page.getByText('A new version is ready.').isVisible()).toBe(true)
      expect(await chat.texts()).toHaveLength(2)
      // The worker that leaves ends what it does first.
      const reloaded = chat.page.waitForEvent('load', { timeout: 90_000 })
      await chat.button('Reload').click()
      await reloaded
      await expect.poll(() => chat.texts()).toHaveLength(2)
      await expect.poll(() => chat.page.getByText('A new version is ready.').isVisible()).toBe(false)
    } finally {
      writeFileSync(script, before)
    }
  })

  it('is used with the keyboard alone', async ({ visits, expect }) => {
    const { page } = await visits.tab(visits.briefly(), staticUrl())
    const chat = new ChatScreen(page)
    await chat.field.waitFor()
    const hasFocus = async (): Promise<boolean> =>
      (await page.locator('plimsoll-chat textarea:focus').count()) > 0
    for (let step = 0; step < 30; step++) {
      if (await hasFocus()) break
      await page.keyboard.press('Tab')
    }
    await page.keyboard.type('First line')
    await page.keyboard.press('Shift+Enter')
    await page.keyboard.type('and second.')
    await page.keyboard.press('Enter')
    await expect.poll(() => chat.texts()).toHaveLength(2)
    expect((await chat.texts())[0]).toBe('First line\nand second.')
    expect(await hasFocus()).toBe(true)
  })

  it('gives the focus on where what had it goes', async ({ visits, expect }) => {
    const { page } = await visits.tab(visits.briefly(), staticUrl())
    await page.setViewportSize({ width: 1_280, height: 800 })
    const field = page.locator('plimsoll-chat textarea:focus')
    await expect.poll(() => page.getByRole('button', { name: /^Remember that I prefer/ }).count()).toBe(1)
    // What a service worker would say, which is none of this visit.
    await page.locator('#notice').evaluate((notice) => void Object.assign(notice, { hidden: false }))
    await page.locator('#dismiss').press('Enter')
    await expect.poll(() => field.count()).toBe(1)
    await page.getByRole('button', { name: /^Remember that I prefer/ }).press('Enter')
    await expect.poll(() => new ChatScreen(page).texts()).toHaveLength(2)
    await expect.poll(() => field.count()).toBe(1)
    await page.getByRole('button', { name: 'Inspector' }).press('Enter')
    await page.locator('plimsoll-inspector #leave').waitFor()
    await expect.poll(() => page.locator('#inspect:focus, #leave:focus').count()).toBe(1)
  })

  it('exports everything, imports it in another browser, and erases it', async ({ visits, expect }) => {
    const chat = await visits.tab(visits.briefly(), staticUrl())
    await chat.say('Two seats to Turin.')
    await expect.poll(() => chat.texts()).toHaveLength(2)
    const said = await chat.texts()
    const data = async (screen: ChatScreen): Promise<void> => {
      await screen.button('Memory').click()
      await screen.page.getByRole('tab', { name: 'Your data' }).click()
    }
    await data(chat)
    const saved = chat.page.waitForEvent('download')
    await chat.button('Save as a file').click()
    const file = join(tmpdir(), `plimsoll-export-${process.pid}.jsonl`)
    await (await saved).saveAs(file)

    const other = await visits.tab(visits.briefly(), staticUrl())
    await data(other)
    const choosing = other.page.waitForEvent('filechooser')
    await other.button('Choose a file').click()
    await (await choosing).setFiles(file)
    await other.page.getByRole('button', { name: /^Two seats to Turin\./ }).click()
    await expect.poll(() => other.texts()).toEqual(said)
    // The browser reads it when it is asked for.
    rmSync(file)

    await chat.page.getByLabel('Type “erase” to confirm').fill('erase')
    await chat.button('Erase everything').click()
    await expect.poll(() => chat.page.getByText(/^Erased on/).count()).toBe(1)
    await expect
      .poll(() => chat.page.getByText('Your conversations will be listed here.').isVisible())
      .toBe(true)
    expect(await chat.texts()).toEqual([])
    await chat.page.reload()
    await expect
      .poll(() => chat.page.getByRole('heading', { name: 'Plimsoll', level: 2 }).isVisible())
      .toBe(true)
  })

  it('leaves nothing readable behind when somebody signs out and has it erased', async ({
    visits,
    expect,
  }) => {
    const context = await visits.briefly()
    const chat = await visits.tab(context, staticUrl())
    await chat.say('canary-5e1f0c in the open')
    await expect.poll(() => chat.texts()).toHaveLength(2)
    const stored = async (): Promise<string> =>
      JSON.stringify(await context.storageState({ indexedDB: true }))
    expect(await stored()).toContain('canary-5e1f0c')
    await chat.page.evaluate(`document.querySelector('plimsoll-chat').signOut({ erase: true })`)
    expect(await stored()).not.toContain('canary-5e1f0c')
    await chat.page.reload()
    await expect
      .poll(() => chat.page.getByRole('heading', { name: 'Plimsoll', level: 2 }).isVisible())
      .toBe(true)
    expect(await chat.texts()).toEqual([])
  })

  it('lets a person leave this browser from its menu, in 360 px and the dark', async ({ visits, expect }) => {
    const options = { viewport: { width: 360, height: 740 }, colorScheme: 'dark' } as const
    const context = await visits.briefly(options)
    const chat = await visits.tab(context, staticUrl())
    const { page } = chat
    await chat.say('canary-93ac in the open')
    await expect.poll(() => chat.texts()).toHaveLength(2)
    const dialog = page.getByRole('dialog', { name: 'Sign out of this browser?' })
    const ask = async (): Promise<void> => {
      await chat.button('More').click()
      await chat.button('Sign out').click()
      await dialog.waitFor()
    }
    await chat.field.fill('canary-93ac half a')
    await ask()
    expect(await dialog.getByText('Drafts, text or files: 1').isVisible()).toBe(true)
    // Nothing is at a service.
    expect(await dialog.textContent()).not.toContain('service')
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(360)
    const { x, width } = (await dialog.boundingBox()) ?? { x: 0, width: 360 }
    expect([x > 0, x + width < 360]).toEqual([true, true])
    const violations = await axeIn(page)
    expect(await violations()).toEqual([])
    await page.screenshot({ path: 'dist/screenshots/360-sign-out.png' })
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    // The button that asked is in the menu, which is closed.
    await expect.poll(() => page.locator('plimsoll-chat textarea:focus').count()).toBe(1)
    await ask()
    const loaded = page.waitForEvent('load')
    await dialog.getByRole('button', { name: 'Sign out' }).click()
    await loaded
    await expect.poll(() => page.getByRole('heading', { name: 'Plimsoll', level: 2 }).isVisible()).toBe(true)
    expect(await chat.texts()).toEqual([])
    expect(JSON.stringify(await context.storageState({ indexedDB: true }))).not.toContain('canary-93ac')
  })

  it('shows what a model would be given, beside the conversation', async ({ visits, expect }) => {
    const chat = await visits.tab(visits.briefly(), staticUrl())
    await chat.say('Two seats to Turin.')
    await expect.poll(() => chat.texts()).toHaveLength(2)
    await chat.button('Inspector').click()
    await expect.poll(() => chat.page.getByText('Call 2 of 2').count()).toBe(1)
  })

  it('races a recording, call by call, and what somebody drops on it without sending it', async ({
    visits,
    expect,
  }) => {
    const { page } = await visits.tab(visits.briefly({ reducedMotion: 'no-preference' }), staticUrl())
    const race = page.locator('.race')
    await expect.poll(() => race.getByRole('button', { name: 'Pause' }).count()).toBe(1)
    await page.emulateMedia({ reducedMotion: 'reduce' })
    await page.reload()
    // Without motion its end shows, and what the page says comes first.
    await expect.poll(() => race.getByText('Call 217 of 217').isVisible()).toBe(true)
    await expect.poll(() => page.getByRole('heading', { name: 'Plimsoll', level: 2 }).isVisible()).toBe(true)
    const bills = (): Promise<string[]> => race.locator('td strong').allInnerTexts()
    await expect.poll(bills).toEqual(['US$0.85', 'US$4.14', 'US$0.84'])
    await expect.poll(() => race.getByText('191 calls over the line').count()).toBe(1)
    await race.getByRole('slider').press('Home')
    await expect.poll(() => race.getByText('Call 1 of 217').isVisible()).toBe(true)
    await race.getByRole('slider').press('ArrowRight')
    await expect
      .poll(() => race.getByRole('slider').getAttribute('aria-valuetext'))
      .toMatch(/^Call 2 of 217; Plimsoll /)
    const worlds = page.locator('.worlds')
    await worlds.getByRole('button', { name: 'Remember it' }).click()
    await expect.poll(() => worlds.getByText('the code can be read').count()).toBe(2)
    await expect.poll(() => worlds.locator('.differing').textContent()).toMatch(/^[1-9]\d* bytes differ$/)
    await worlds.getByRole('button', { name: 'Forget it' }).click()
    await expect.poll(() => worlds.locator('.differing').textContent()).toBe('0 bytes differ')
    await expect.poll(() => worlds.getByText('the code is nowhere').count()).toBe(2)
    // Without an edge there is nothing that two windows could follow.
    expect(await page.locator('.unplug').count()).toBe(0)
    const violations = await axeIn(page)
    expect(await violations()).toEqual([])

    const asked: string[] = []
    page.on('request', (request) => asked.push(`${request.method()} ${new URL(request.url()).pathname}`))
    const give = async (name: string, text: string): Promise<void> => {
      const choosing = page.waitForEvent('filechooser')
      await race.getByRole('button', { name: 'Choose an export' }).click()
      await (await choosing).setFiles({ name, mimeType: 'application/json', buffer: Buffer.from(text) })
    }
    await give('empty.json', '[]')
    await expect
      .poll(() => race.getByRole('alert').textContent())
      .toMatch(/^No conversation was found in empty.json/)
    const messages = Array.from({ length: 40 }, (_, index) => ({
      role: index % 2 === 0 ? 'user' : 'assistant',
      content: `canary-7d2e ${index} ${'words and more words '.repeat(40)}`,
    }))
    await give('mine.jsonl', `${JSON.stringify({ id: 'mine', messages })}\n`)
    await expect.poll(() => race.getByText('Call 20 of 20').isVisible()).toBe(true)
    await expect.poll(() => race.getByRole('alert').count()).toBe(0)
    await expect.poll(() => race.textContent()).toContain('mine.jsonl, 40 messages.')
    expect(asked.filter((line) => !/^GET \/assets\/[\w.-]+\.(?:js|css)$/.test(line))).toEqual([])
    expect(JSON.stringify(await page.context().storageState({ indexedDB: true }))).not.toContain(
      'canary-7d2e',
    )

    const pair = ['user', 'assistant'].map((role) => JSON.stringify({ role, content: 'Hello.' }))
    await give('short.jsonl', `${pair.join('\n')}\n`)
    await expect.poll(() => race.getByText('One call makes no curve').isVisible()).toBe(true)
    expect(await race.locator('path.plimsoll').last().getAttribute('d')).toMatch(/^M0 \d+H600$/)
    expect(await race.getByRole('slider').count()).toBe(0)

    const saving = page.waitForEvent('download')
    await race.getByRole('button', { name: 'Save as a picture' }).click()
    const saved = await saving
    expect(saved.suggestedFilename()).toBe('plimsoll-race.png')
    mkdirSync('dist/screenshots', { recursive: true })
    await saved.saveAs('dist/screenshots/race-card.png')
    await race.getByRole('button', { name: 'Back to the recording' }).click()
    await expect.poll(() => race.getByText('Call 217 of 217').isVisible()).toBe(true)
    await page.emulateMedia({ colorScheme: 'dark' })
    expect(await violations(['color-contrast'])).toEqual([])
    // On a phone the slider has the width of the chart.
    await page.setViewportSize({ width: 360, height: 740 })
    const widthOf = async (selector: string): Promise<number> =>
      (await race.locator(selector).first().boundingBox())?.width ?? 0
    expect(await widthOf('input[type=range]')).toBeGreaterThan(0.9 * (await widthOf('svg')))
  })

  for (const [locale, field, isRun] of [
    ['en-GB', 'Write a message', true],
    ['de-DE', 'Nachricht schreiben', isWhole],
    ['ar-EG', 'اكتب رسالة', true],
  ] as const)
    it.runIf(isRun)(
      `has no fault that axe finds, in ${locale}, wide or narrow, light or dark`,
      async ({ visits, expect }) => {
        const { page } = await visits.tab(visits.briefly({ locale }), staticUrl())
        const box = page.getByRole('textbox', { name: field })
        await box.fill('**Bold** and `code`\n\n```ts\nconst seats = 2\n```')
        await box.press('Enter')
        await expect.poll(() => page.locator('plimsoll-chat [data-message]').count()).toBe(2)
        await expect.poll(() => page.locator('[aria-busy=true]').count()).toBe(0)
        mkdirSync('dist/screenshots', { recursive: true })
        // One page for all: to load it takes longer than to look at it.
        const violations = await axeIn(page)
        for (const [width, height] of [
          [1_440, 900],
          [390, 844],
        ] as const) {
          await page.setViewportSize({ width, height })
          const colours = new Set<unknown>()
          for (const colorScheme of ['light', 'dark'] as const) {
            await page.emulateMedia({ colorScheme })
            colours.add(
              await page.evaluate('getComputedStyle(document.activeElement.shadowRoot.activeElement).color'),
            )
            expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width)
            await page.screenshot({ path: `dist/screenshots/${width}-${colorScheme}-${locale}.png` })
            // Of all rules only that of contrast looks at colours.
            expect(await violations(colorScheme === 'dark' ? ['color-contrast'] : undefined)).toEqual([])
          }
          expect(colours.size).toBe(2)
        }
      },
    )
})

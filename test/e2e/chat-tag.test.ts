/** The built tag on pages of other people, under strict content security policies. */
import { readdirSync, readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { extname, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright'
import { build } from 'vite'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { CANARY, HOSTILE } from '../browser/support/hostile.ts'
import { findHeadless, flags } from '../chromium.ts'
import { TAG_BUDGET } from '../sizes/budgets.ts'
import { builtTag } from '../tag.ts'

const folder = builtTag()
const POLICY =
  "default-src 'none'; script-src 'self'; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'"

let server: Server
let address: string
let browser: Browser
let context: BrowserContext
let errors: string[]
let requests: string[]
/** An app in which a bundler took the tag's files, by name. */
const app = new Map<string, string>()

beforeAll(async () => {
  server = createServer(({ url = '/' }, response) => {
    const { pathname, searchParams } = new URL(url, 'http://host')
    if (pathname === '/') {
      response.setHeader('content-type', 'text/html; charset=utf-8')
      response.setHeader('content-security-policy', POLICY + (searchParams.get('policy') ?? ''))
      response.end(
        `<!doctype html><html lang="en"><meta charset="utf-8"><title>A shop</title><link rel="icon" href="data:,"><p>A shop</p>${searchParams.get('body') ?? ''}`,
      )
      return
    }
    const file = fileOf(pathname)
    response.statusCode = file ? 200 : 404
    // A frame without an origin asks as anybody.
    response.setHeader('access-control-allow-origin', '*')
    if (extname(pathname) === '.js' || extname(pathname) === '.mjs')
      response.setHeader('content-type', 'text/javascript')
    response.end(file)
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const executablePath = findHeadless()
  browser = await chromium.launch({ args: flags, ...(executablePath && { executablePath }) })
})

afterAll(async () => {
  await browser?.close()
  server?.close()
})

beforeEach(async () => {
  context = await browser.newContext({ viewport: { width: 1_000, height: 800 } })
  errors = []
  requests = []
})

afterEach(async () => {
  await context.close()
  expect(errors).toEqual([])
})

function fileOf(pathname: string): string | Buffer | undefined {
  const name = pathname.split('/').at(-1) ?? ''
  if (pathname.startsWith('/app/')) return app.get(name)
  return pathname.startsWith('/cdn/') && readdirSync(folder).includes(name)
    ? readFileSync(join(folder, name))
    : undefined
}

async function visit(body: string, policy = ''): Promise<Page> {
  const page = await context.newPage()
  page.on('pageerror', ({ message }) => errors.push(message))
  page.on('console', (message) => {
    if (message.type() === 'error') errors.push(message.text())
  })
  page.on('request', (request) => requests.push(new URL(request.url()).pathname))
  await page.goto(`${address}/?${new URLSearchParams({ body, policy })}`)
  return page
}

async function open(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Open chat' }).click()
}

/** Says something in the widget that is open. */
async function say(page: Page, text: string): Promise<void> {
  await page.getByLabel('Write a message').fill(text)
  await page.keyboard.press('Enter')
}

/** Id of the newest reply that is kept: of a long conversation, only its end is drawn. */
async function newestReply(page: Page): Promise<string | null> {
  const replies = await page.locator('.message.assistant[data-message]').all()
  return (await replies.at(-1)?.getAttribute('data-message')) ?? null
}

const TAG = '<script type="module" src="/cdn/v1/plimsoll-chat.js"></script>'

it('brings the licence of every package of which it holds something', () => {
  const text = readFileSync(join(folder, 'LICENSES.txt'), 'utf8')
  const names = [...text.matchAll(/^(\S+) \d+\.\d+\.\d+: .*\n=+$/gm)].map(([, name]) => name)
  expect(names).toEqual([
    ...['@cfworker/json-schema', 'highlight.js'],
    ...['lit', 'lit-html', 'marked', 'plimsoll', 'rolldown'],
  ])
  for (const holder of ['Jeremy Danyow', 'Ivan Sagalaev']) expect(text).toContain(holder)
})

it('refuses none of the libraries that it brings', () => {
  for (const file of readdirSync(folder))
    expect(readFileSync(join(folder, file), 'utf8')).not.toContain('or later, found')
})

it('is a launcher of at most 5 kB, which loads nothing until it is pressed and moves nothing', async () => {
  expect(gzipSync(readFileSync(join(folder, 'plimsoll-chat.js'))).length).toBeLessThanOrEqual(5_000)
  const page = await visit(`${TAG}<p id="after">After</p>`)
  const launcher = page.getByRole('button', { name: 'Open chat' })
  await launcher.waitFor()
  expect(requests).toEqual(['/', '/cdn/v1/plimsoll-chat.js'])
  const shifts = await page.evaluate(`new Promise((done) => {
    const observer = new PerformanceObserver((list) => done(list.getEntries().length))
    observer.observe({ type: 'layout-shift', buffered: true })
    setTimeout(() => done(0), 200)
  })`)
  expect(shifts).toBe(0)
})

it('shows a conversation within its budget; what answers is loaded behind it', async () => {
  const first = await visit(TAG)
  await open(first)
  await say(first, 'Hello')
  await first.getByRole('button', { name: 'Try another reply' }).waitFor()
  await first.close()
  requests = []
  const loaded = new Set<string>()
  // Whatever it could do without fails.
  await context.route(/plimsoll-(memory|session-list|panel-style|.*model)-/, (route) => route.abort())
  context.on('response', (response) => loaded.add(new URL(response.url()).pathname.split('/').at(-1) ?? ''))
  const page = await context.newPage()
  await page.goto(`${address}/?${new URLSearchParams({ body: TAG })}`)
  await open(page)
  await page.getByRole('article', { name: 'Assistant' }).first().waitFor()
  const needed = [...loaded].filter(
    (name) => name.startsWith('plimsoll-') && !name.startsWith('plimsoll-blocks'),
  )
  const bytes = needed.map((name) => gzipSync(readFileSync(join(folder, name)), { level: 9 }).length)
  expect(needed.length).toBeGreaterThan(3)
  expect(bytes.reduce((sum, length) => sum + length)).toBeLessThanOrEqual(TAG_BUDGET.firstLook)
})

it('asks for Markdown beside the view, where a chat was opened before alone', async () => {
  const markdown = /plimsoll-blocks-/
  const first = await visit(TAG)
  await open(first)
  await first.getByLabel('Write a message').waitFor()
  expect(requests.filter((path) => markdown.test(path))).toEqual([])
  await first.close()
  const page = await visit(TAG)
  const asked = page.waitForRequest(markdown)
  await page.route(/plimsoll-opened-/, async (route) => {
    await asked
    await route.continue()
  })
  await open(page)
  await page.getByLabel('Write a message').waitFor()
})

it('asks for the language beside the view', async () => {
  const language = /plimsoll-en-/
  const page = await visit(TAG)
  const asked = page.waitForRequest(language)
  await page.route(/plimsoll-opened-/, async (route) => {
    await asked
    await route.continue()
  })
  await open(page)
  await page.getByLabel('Write a message').waitFor()
})

it('registers the element alone in an app that a bundler made with it, and opens in as few files', async () => {
  const built = await build({
    configFile: false,
    logLevel: 'error',
    // Where an app lives tells nothing of what it is.
    base: '/app/plimsoll-chat/',
    plugins: [
      {
        name: 'app',
        resolveId: (id) => (id === 'app' ? '\0app' : undefined),
        load: (id) =>
          id === '\0app' ? `import ${JSON.stringify(join(folder, 'plimsoll-chat.js'))}` : undefined,
      },
    ],
    build: { write: false, rolldownOptions: { input: 'app' } },
  })
  const files = [built].flat().flatMap((one) => ('output' in one ? one.output : []))
  for (const file of files)
    if (file.type === 'chunk') app.set(file.fileName.split('/').at(-1) ?? '', file.code)
  const entry = files.find((file) => file.type === 'chunk' && file.isEntry)
  const page = await visit(`<script type="module" src="/app/plimsoll-chat/${entry?.fileName}"></script>`)
  await page.waitForFunction("customElements.get('plimsoll-chat')")
  expect(await page.locator('plimsoll-chat').count()).toBe(0)
  await page.evaluate("document.body.append(document.createElement('plimsoll-chat'))")
  await open(page)
  await page.getByLabel('Write a message').waitFor()
  // The app, the view, the language, and the sessions of this browser.
  expect(requests.filter((path) => path.endsWith('.js'))).toHaveLength(4)
})

it('answers within its budget, without what changes a conversation, which is loaded behind it', async () => {
  const page = await context.newPage()
  const loaded = new Set<string>()
  // Whatever the first answer could do without is not there.
  const later =
    /plimsoll-(later|local-changes|added|calls|finding|author|blocks|memory-mode|session-list|panel-style|work)-/
  await context.route(later, (route) => route.abort())
  context.on('request', (request) => loaded.add(new URL(request.url()).pathname.split('/').at(-1) ?? ''))
  await page.goto(`${address}/?${new URLSearchParams({ body: TAG })}`)
  await page.evaluate(() => {
    const { document } = globalThis as unknown as { document: { querySelector(selector: string): unknown } }
    const chat = document.querySelector('plimsoll-chat') as { model: () => string }
    chat.model = () => 'The tide is low.'
  })
  await open(page)
  await say(page, 'Hello')
  await page.getByRole('article', { name: 'Assistant' }).getByText('The tide is low.').waitFor()
  const needed = [...loaded].filter((name) => /^plimsoll-.*js$/.test(name) && !later.test(name))
  const bytes = needed.map((name) => gzipSync(readFileSync(join(folder, name)), { level: 9 }).length)
  expect(bytes.reduce((sum, length) => sum + length)).toBeLessThanOrEqual(TAG_BUDGET.answering)
  await expect.poll(() => [...loaded].some((name) => /-local-changes-/.test(name))).toBe(true)
  expect([...loaded].filter((name) => /-(calls|finding|author|work)-/.test(name))).toEqual([])
})

it('takes files and answers without a network once it was open for a moment', async () => {
  const page = await visit(TAG)
  const prepared = page.waitForResponse(/plimsoll-memory-(?!mode|panel)/)
  await open(page)
  await prepared
  // A slow machine asks for one file long after the other.
  for (let seen = -1; seen < requests.length; await page.waitForTimeout(2_000)) seen = requests.length
  await context.setOffline(true)
  const file = { name: 'tides.txt', mimeType: 'text/plain', buffer: Buffer.from('High at noon.') }
  await page.locator('.composer input[type=file]').setInputFiles(file)
  await say(page, 'Hello')
  await page.getByRole('article', { name: 'Assistant' }).first().waitFor()
  expect(await page.locator('.notice').allTextContents()).toEqual([])
})

it('says once that what the browser had kept is gone, and sends in a new conversation what was typed', async () => {
  const before = await visit(TAG)
  await open(before)
  await say(before, 'Hello')
  await before.getByRole('article', { name: 'Assistant' }).waitFor()
  await before.close()
  const page = await visit('')
  await page.evaluate(async () => {
    const { indexedDB } = globalThis as unknown as {
      indexedDB: {
        databases(): Promise<readonly { readonly name?: string }[]>
        deleteDatabase(name: string): { onsuccess?: () => void }
      }
    }
    for (const { name = '' } of await indexedDB.databases())
      await new Promise<void>((done) => {
        indexedDB.deleteDatabase(name).onsuccess = done
      })
  })
  await page.goto(`${address}/?${new URLSearchParams({ body: TAG })}`)
  await open(page)
  await page.locator('.notice').waitFor()
  await say(page, 'Are you there?')
  const field = page.getByLabel('Write a message')
  await expect.poll(() => field.inputValue()).toBe('Are you there?')
  expect(await page.locator('.notice p').allTextContents()).toEqual([
    'What only this browser had, and what was not sent, is gone.',
  ])
  await page.locator('.notice').getByRole('button', { name: 'New conversation' }).click()
  await expect.poll(() => page.locator('.notice').count()).toBe(0)
  await expect.poll(() => field.inputValue()).toBe('Are you there?')
  await field.press('Enter')
  await page.getByRole('article', { name: 'Assistant' }).waitFor()
  expect(await field.inputValue()).toBe('')
})

it('goes on where what summarises cannot be loaded, and loads it, and what finds, once it can', async () => {
  const page = await visit(TAG)
  await page.evaluate(() => {
    const { document } = globalThis as unknown as { document: { querySelector(selector: string): unknown } }
    const chat = document.querySelector('plimsoll-chat') as { model: () => string }
    chat.model = () => 'The tide is low. '.repeat(1_000)
  })
  await open(page)
  /** A few of them fill the window. */
  const goOn = async (): Promise<void> => {
    const before = await newestReply(page)
    await say(page, 'what of the harbour? '.repeat(150))
    await expect.poll(() => newestReply(page)).not.toBe(before)
  }
  const untilAsked = async (path: RegExp): Promise<void> => {
    for (let round = 0; round < 12 && !requests.some((asked) => path.test(asked)); round++) await goOn()
    expect(requests.filter((asked) => path.test(asked)).length).toBeGreaterThan(0)
  }
  expect(requests.some((asked) => /-(author|finding)-/.test(asked))).toBe(false)
  await context.route(/plimsoll-author-/, (route) => route.abort())
  await untilAsked(/-author-/)
  await goOn()
  await context.unroute(/plimsoll-author-/)
  requests = []
  await untilAsked(/-author-/)
  await page.getByRole('button', { name: 'Conversations' }).click()
  await page.getByLabel('Search conversations').fill('harbour')
  await page.locator('.sessions .entry').first().waitFor()
  await expect.poll(() => requests.some((asked) => /-finding-/.test(asked))).toBe(true)
  await expect.poll(() => page.locator('.sessions .entry .muted').first().textContent()).toContain('harbour')
  errors = errors.filter((said) => !said.includes('ERR_FAILED'))
})

it('takes its settings from the script, and leaves an element of the page as it is', async () => {
  const script = TAG.replace('type=', 'data-heading="Help desk" data-placement="bottom-left" type=')
  const made = await visit(script)
  await expect.poll(() => made.locator('plimsoll-chat').getAttribute('heading')).toBe('Help desk')
  const own = await visit(`<plimsoll-chat lang="de"></plimsoll-chat>${script}`)
  await own.getByRole('button', { name: 'Chat öffnen' }).waitFor()
  await expect.poll(() => own.locator('plimsoll-chat').count()).toBe(1)
})

it('loads its siblings from its own folder, under a strict policy with trusted types', async () => {
  const page = await visit(TAG, '; trusted-types lit-html')
  await open(page)
  await say(page, 'Hello')
  await page.getByRole('article', { name: 'Assistant' }).first().waitFor()
  expect(requests.filter((path) => path !== '/').every((path) => path.startsWith('/cdn/v1/'))).toBe(true)
})

it('is there once where two of its kind are loaded', async () => {
  const page = await visit(TAG + TAG.replace('v1', 'v2'))
  await page.getByRole('button', { name: 'Open chat' }).waitFor()
  await expect.poll(() => page.locator('plimsoll-chat').count()).toBe(1)
  expect(requests).toContain('/cdn/v2/plimsoll-chat.js')
})

it('runs nothing and asks nobody for what is stored, no matter who wrote it, now and after a reload', async () => {
  const page = await visit(TAG, '; report-uri /report')
  // To the canary's host nothing gets, but that it was tried would be seen.
  page.on('request', (request) => {
    if (request.url().includes(CANARY)) errors.push(`asked for ${request.url()}`)
  })
  await page.evaluate(
    ({ texts }) => {
      const { document } = globalThis as unknown as { document: { querySelector(selector: string): unknown } }
      const chat = document.querySelector('plimsoll-chat') as {
        model: (messages: readonly unknown[]) => string
        show(): Promise<void>
      }
      let place = 0
      chat.model = () => texts[place++ % texts.length] ?? ''
      return chat.show()
    },
    { texts: HOSTILE },
  )
  for (const text of HOSTILE) {
    const before = await newestReply(page)
    await page.getByLabel('Write a message').fill(text.replaceAll('\u0000', ''))
    await page.keyboard.press('Enter')
    await expect.poll(() => newestReply(page)).not.toBe(before)
    await expect.poll(() => page.getByRole('button', { name: 'Stop the reply' }).count()).toBe(0)
  }
  await page.reload()
  await open(page)
  await page.getByRole('article', { name: 'Assistant' }).last().waitFor()
  await page.getByRole('button', { name: 'Conversations' }).click()
  await page.waitForTimeout(300)
  expect(await page.evaluate('globalThis.plimsollPwned')).toBeUndefined()
  expect(requests).not.toContain('/report')
})

it('answers in a frame that may store nothing, and says so in one line', async () => {
  const inner = `${address}/?${new URLSearchParams({ body: TAG })}`
  const page = await visit(
    `<iframe sandbox="allow-scripts" width="900" height="700" src="${inner.replaceAll('&', '&amp;')}"></iframe>`,
    "; frame-src 'self'",
  )
  const frame = page.frameLocator('iframe')
  await frame.getByRole('button', { name: 'Open chat' }).click()
  await frame.getByLabel('Write a message').fill('Hello')
  await page.keyboard.press('Enter')
  await expect.poll(() => frame.locator('article').count()).toBe(2)
  await expect.poll(() => frame.locator('[aria-busy=true]').count()).toBe(0)
  expect(await frame.locator('article').allTextContents()).toEqual([
    expect.stringContaining('Hello'),
    expect.stringMatching(/\w/),
  ])
  expect(await frame.locator('.notice').allTextContents()).toEqual([
    expect.stringContaining('This browser keeps nothing'),
  ])
})

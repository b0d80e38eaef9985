/** What `npm start` serves to browsers and programs; `start.test.ts` has how it begins and ends. */
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { get, type IncomingMessage } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { createClient } from '../../src/client/index.ts'
import { findHeadless, flags } from '../chromium.ts'
import { talk } from '../install/front-end.ts'
import { freePort, type Started, start } from '../started.ts'
import { isAlive, npmStart } from './support/npm-start.ts'

const data = mkdtempSync(join(tmpdir(), 'plimsoll-page-'))
let port: number
let server: Started
let browser: Browser
let context: BrowserContext
let errors: unknown[]

beforeAll(async () => {
  port = await freePort()
  const executablePath = findHeadless()
  ;[server, browser] = await Promise.all([
    npmStart(port, data),
    chromium.launch({ args: flags, ...(executablePath && { executablePath }) }),
  ])
})

afterAll(async () => {
  await browser?.close()
  if (server && isAlive(server)) process.kill(-server.pid, 'SIGKILL')
  rmSync(data, { recursive: true, force: true })
})

beforeEach(async () => {
  // A profile of its own, with a database of its own.
  context = await browser.newContext({ locale: 'en-GB', viewport: { width: 1_280, height: 800 } })
  errors = []
})

afterEach(async () => {
  await context.close()
  expect(errors).toEqual([])
})

async function open(path = '/'): Promise<Page> {
  const page = await context.newPage()
  page.on('pageerror', (error) => errors.push(error))
  // Among them what the content security policy keeps from being loaded.
  page.on('console', (message) => {
    if (message.type() === 'error') errors.push(message.text())
  })
  await page.goto(new URL(path, server.found).href)
  return page
}

it('npm start opens an assistant, which the edge answers by a scripted demo that says so', async () => {
  const page = await open()
  const field = page.getByRole('textbox', { name: 'Write a message' })
  await field.fill('Two seats to Turin.')
  await field.press('Enter')
  await expect
    .poll(() =>
      page
        .locator('[data-message]', { hasText: 'This is a scripted demo: no language model was called.' })
        .count(),
    )
    .toBe(1)
  await expect.poll(() => page.getByText('At the service', { exact: true }).count()).toBe(1)
})

it.each(['At the service', 'On this device'])('shows a reply once in each frame: %s', async (home) => {
  const page = await open()
  await page.getByText(home, { exact: true }).first().click()
  await page.evaluate(`{
    globalThis.counts = []
    const root = document.querySelector('plimsoll-chat').shadowRoot
    const look = () => {
      counts.push(root.querySelectorAll('.assistant .prose').length)
      requestAnimationFrame(look)
    }
    look()
  }`)
  const field = page.getByRole('textbox', { name: 'Write a message' })
  for (const count of [1, 2]) {
    await field.fill('Two seats to Turin.')
    await field.press('Enter')
    // The reply under way is busy; so is nothing else here.
    await expect
      .poll(async () => [
        await page.evaluate('counts.at(-1)'),
        await page.locator('.assistant[aria-busy=true]').count(),
      ])
      .toEqual([count, 0])
  }
  const counts = await page.evaluate<number[]>('counts')
  expect(counts).toEqual(counts.toSorted((one, other) => one - other))
})

it('the page of the API shows every route, and asks one, on a wide screen and a narrow one', async () => {
  const page = await open('/docs')
  const document = (await (await fetch(new URL('/openapi.json', server.found))).json()) as Document
  const operations = Object.values(document.paths).flatMap((path) => Object.keys(path))
  await expect.poll(() => page.locator('[part~=section-operation]').count()).toBe(operations.length)
  const health = page.locator('[id="get-/health"]')
  for (const width of [1_440, 390]) {
    await page.setViewportSize({ width, height: 844 })
    await health.getByRole('button', { name: 'Try' }).click()
    await expect.poll(() => health.getByText('"ok"').first().isVisible()).toBe(true)
    // Nothing stands outside of the screen.
    const rights = await page
      .locator('.m-btn')
      .evaluateAll((buttons) =>
        (buttons as unknown as Shown[]).map((one) => one.getBoundingClientRect().right),
      )
    const right = Math.max(...rights)
    expect(right).toBeGreaterThan(0)
    expect(right).toBeLessThanOrEqual(width)
  }
})

it('lets in the user and guests, and nobody by another name', async () => {
  const { found: url } = server
  const json = { 'Content-Type': 'application/json' }
  const created = await fetch(`${url}/v1/sessions`, {
    method: 'POST',
    headers: json,
    body: '{"session_id":"trip"}',
  })
  expect(created.status).toBe(201)
  const chat = await fetch(`${url}/v1/sessions/trip/chat`, {
    method: 'POST',
    headers: json,
    body: '{"message":"Hi."}',
  })
  expect(await chat.text()).toContain('demo')
  // A page whose name points here may send any header.
  const MF = { 'MF-Original-URL': `${url}/v1/sessions`, 'X-Forwarded-Proto': 'http' }
  for (const [host, headers, status] of [
    [`127.0.0.1:${port}`, {}, 200],
    [`localhost:${port}`, MF, 200],
    [`evil.example:${port}`, {}, 421],
    [`evil.example:${port}`, MF, 421],
  ] as const)
    expect([host, await statusOf({ ...headers, host })]).toEqual([host, status])
  // workerd would hide it from the edge, which would write.
  const put = (headers: Record<string, string>): Promise<Response> =>
    fetch(`${url}/v1/sessions/trip/checkpoint`, {
      method: 'PUT',
      headers: { ...json, ...headers },
      body: '{"value":1}',
    })
  expect((await put({ 'If-Match': '' })).status).toBe(400)
  expect((await put({ 'If-None-Match': '*' })).status).toBe(200)
  const socket = new WebSocket(`ws://127.0.0.1:${port}/v1/sessions/trip/live`)
  const hint = once(socket as unknown as EventTarget & NodeJS.EventEmitter, 'message')
  await once(socket as unknown as EventTarget & NodeJS.EventEmitter, 'open')
  socket.send('ping')
  expect(((await hint) as unknown as [{ data: unknown }])[0].data).toBe('pong')
  socket.close()
  const guest = await fetch(`${url}/v1/guests`, { method: 'POST' })
  expect(guest.status).toBe(201)
  const { token } = (await guest.json()) as { token: string }
  const theirs = await fetch(`${url}/v1/sessions/trip`, { headers: { Authorization: `Bearer ${token}` } })
  expect(theirs.status).toBe(404)
})

it('is what the front end of `examples/hosts` at a port of its own reaches', async () => {
  const host = await start(process.execPath, ['examples/hosts/node.ts'], /(http:\S+)/, {
    EDGE: server.found,
    PORT: String(await freePort()),
  })
  try {
    await talk(await context.newPage(), host.found)
    const told: string[] = []
    const close = createClient({ baseUrl: server.found })
      .session('trip')
      .live(({ type }) => told.push(type))
    await expect.poll(() => told).toEqual(['open'])
    close()
  } finally {
    await host.stop()
  }
})

it('leaves nothing running after Ctrl-C', async () => {
  process.kill(-server.pid, 'SIGINT')
  await expect.poll(() => isAlive(server), { timeout: 15_000 }).toBe(false)
  await expect(fetch(server.found)).rejects.toThrow()
})

/** Of `/v1/sessions`, with any `Host`, which `fetch` sets by itself. */
async function statusOf(headers: Record<string, string>): Promise<number | undefined> {
  const asked = get({ host: '127.0.0.1', port, path: '/v1/sessions', headers })
  const [answer] = (await once(asked, 'response')) as [IncomingMessage]
  answer.resume()
  return answer.statusCode
}

/** As much of an element as says where it stands. */
interface Shown {
  getBoundingClientRect(): { readonly right: number }
}

interface Document {
  readonly paths: Readonly<Record<string, object>>
}

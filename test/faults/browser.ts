/**
 * What a Chromium does to the Dexie store that no test inside a page can show: it is killed in the middle of writing, has no more
 * room, or is told to clear the origin's data. `KILLS=100 npm run test:browser-faults` kills as often; by default 20 times.
 */
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { chromium, type Page } from 'playwright'
import { createServer } from 'vite'
import { findChromium, flags } from '../chromium.ts'

const KILLS = Number(process.env.KILLS ?? 20)
interface Found {
  readonly ids: readonly string[]
  readonly gapless: boolean
  readonly state: string
}

class Browser {
  readonly page: Page
  readonly #process: ChildProcess

  private constructor(process: ChildProcess, page: Page) {
    this.#process = process
    this.page = page
  }

  static async launch(profile: string): Promise<Browser> {
    for (const name of readdirSync(profile))
      if (name.startsWith('Singleton')) rmSync(join(profile, name), { force: true })
    const path = findChromium()
    if (!path) throw new Error('no Chromium: run `node test/chromium.ts`')
    // A process group of its own, so that its renderers and its storage die with it.
    const process = spawn(
      path,
      [...flags, '--headless=new', '--remote-debugging-port=0', `--user-data-dir=${profile}`, 'about:blank'],
      {
        detached: true,
        stdio: ['ignore', 'ignore', 'pipe'],
      },
    )
    const address = await new Promise<string>((found, failed) => {
      createInterface({ input: process.stderr as NodeJS.ReadableStream }).on('line', (line) => {
        const url = /^DevTools listening on (\S+)/.exec(line)?.[1]
        if (url) found(url)
      })
      process.once('exit', () => failed(new Error('Chromium ended before it listened')))
    })
    const connected = await chromium.connectOverCDP(address)
    const [context] = connected.contexts()
    if (!context) throw new Error('Chromium has no context')
    return new Browser(process, await context.newPage())
  }

  async kill(): Promise<void> {
    const ended = once(this.#process, 'exit')
    if (this.#process.pid) process.kill(-this.#process.pid, 'SIGKILL')
    await ended
  }
}

const profile = (): string => mkdtempSync(join(tmpdir(), 'plimsoll-faults-'))
const server = await createServer({
  configFile: false,
  root: resolve(import.meta.dirname, '../..'),
  cacheDir: profile(),
  logLevel: 'error',
  optimizeDeps: { include: ['dexie'], noDiscovery: true },
  server: { host: '127.0.0.1', port: 0, hmr: false, watch: null },
})
await server.listen()
const origin = server.resolvedUrls?.local[0]?.replace(/\/$/, '') ?? ''

async function load(page: Page): Promise<void> {
  await page.goto(`${origin}/test/browser/faults.html`)
  await page.waitForFunction(() => 'fill' in globalThis)
}

/** Calls a function of the page with JSON arguments. */
const call = <Result>(page: Page, name: string, ...args: unknown[]): Promise<Result> =>
  page.evaluate(`${name}(...${JSON.stringify(args)})`) as Promise<Result>

/** A random time between, to kill at. */
const pause = (least: number, most: number): Promise<void> =>
  new Promise((done) => setTimeout(done, least + Math.random() * (most - least)))

async function killed(durability: 'strict' | 'relaxed', times: number): Promise<void> {
  const folder = profile()
  const options = { name: 'killed', durability }
  const acknowledged = new Map<string, number>()
  for (let time = 0; time < times; time++) {
    const browser = await Browser.launch(folder)
    const first = new Promise<void>((done) => {
      void browser.page.exposeFunction('acknowledge', (id: string, seq: number) => {
        acknowledged.set(id, seq)
        done()
      })
    })
    await load(browser.page)
    call(browser.page, 'write', options, `${durability}-${time}`).catch(() => {})
    await first
    await pause(30, 400)
    await browser.kill()
  }
  const browser = await Browser.launch(folder)
  await load(browser.page)
  const { ids, gapless, state } = await call<Found>(browser.page, 'find', options)
  assert.equal(state, 'ready')
  assert.ok(gapless, 'the log has a gap, or part of an op')
  assert.equal(new Set(ids).size, ids.length, 'an op was written twice')
  const lost = [...acknowledged].filter(([id, seq]) => ids[seq - 1] !== id)
  assert.deepEqual(lost, [], 'acknowledged ops are gone, or moved')
  const last = ids.at(-1) ?? ''
  assert.equal(await call<number>(browser.page, 'resend', options, last), ids.length)
  assert.equal((await call<Found>(browser.page, 'find', options)).ids.length, ids.length)
  await browser.kill()
  rmSync(folder, { recursive: true, force: true })
  console.log(
    `killed ${times} times (${durability}): ${acknowledged.size} ops acknowledged, 0 lost, ${ids.length} there, no gap`,
  )
}

async function full(): Promise<void> {
  const folder = profile()
  const browser = await Browser.launch(folder)
  const session = await browser.page.context().newCDPSession(browser.page)
  // Set after the first use it would have no effect.
  await session.send('Storage.overrideQuotaForOrigin', { origin, quotaSize: 8 * 2 ** 20 })
  await load(browser.page)
  const found = await call<Record<string, unknown>>(browser.page, 'fill', { name: 'full' })
  await browser.kill()
  rmSync(folder, { recursive: true, force: true })
  console.log(`full at 8 MiB: ${JSON.stringify(found)}`)
  assert.equal(found.code, 'ERR_STORAGE_FULL')
  assert.equal(found.readBack, found.acknowledged)
  assert.equal(found.rows, found.acknowledged)
  assert.ok(Number(found.acknowledged) > 4)
  assert.deepEqual([found.deleted, found.emptied, found.status], [8, 8, 'ready'])
}

async function cleared(): Promise<void> {
  const folder = profile()
  const browser = await Browser.launch(folder)
  const { page } = browser
  await load(page)
  await page.evaluate(`Object.assign(globalThis, { acknowledge: () => {} })`)
  assert.equal(await call(page, 'resend', { name: 'cleared' }, 'before'), 1)
  await page.evaluate(`Object.assign(globalThis, { held: hold({ name: 'cleared' }) })`)
  assert.equal(await page.evaluate('held.then(({ look }) => look())'), 'ready')
  const session = await page.context().newCDPSession(page)
  await session.send('Storage.clearDataForOrigin', { origin, storageTypes: 'all' })
  assert.equal(await page.evaluate('held.then(({ look }) => look())'), 'lost ERR_STORAGE_LOST')
  await browser.kill()
  rmSync(folder, { recursive: true, force: true })
  console.log(`the origin's data cleared while a page was open: noticed`)
}

try {
  await full()
  await cleared()
  await killed('strict', Math.ceil(KILLS / 2))
  await killed('relaxed', Math.floor(KILLS / 2))
} finally {
  await server.close()
  rmSync(server.config.cacheDir, { recursive: true, force: true })
}
process.exit()

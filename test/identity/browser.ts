import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { type Browser, chromium, type Page } from 'playwright'
import { createServer, type ViteDevServer } from 'vite'
import { findChromium, flags } from '../chromium.ts'
import type { Replay } from './steps.ts'

/** A page in Chromium, with the Dexie store over its IndexedDB. */
export class BrowserSide {
  readonly #server: ViteDevServer
  readonly #browser: Browser
  readonly #page: Page

  private constructor(server: ViteDevServer, browser: Browser, page: Page) {
    this.#server = server
    this.#browser = browser
    this.#page = page
  }

  static async start(): Promise<BrowserSide> {
    const executablePath = findChromium()
    const server = await createServer({
      configFile: false,
      root: resolve(import.meta.dirname, '../..'),
      cacheDir: mkdtempSync(join(tmpdir(), 'plimsoll-identity-')),
      logLevel: 'error',
      optimizeDeps: { include: ['dexie', 'stemmer'], noDiscovery: true },
      server: { host: '127.0.0.1', port: 0, hmr: false, watch: null },
    })
    await server.listen()
    const browser = await chromium.launch({ args: flags, ...(executablePath && { executablePath }) })
    const page = await browser.newPage()
    await page.goto(`${server.resolvedUrls?.local[0]}test/browser/identity.html`)
    return new BrowserSide(server, browser, page)
  }

  /**
   * Appends message after message, and is reloaded half-way, so that the rest is read from the
   * disk.
   */
  async contextsOf(
    { steps, ...rest }: Replay,
    budget: number,
    secret: string | undefined,
  ): Promise<readonly string[]> {
    const half = Math.ceil(steps.length / 2)
    const answers: string[] = []
    for (const part of [steps.slice(0, half), steps.slice(half)]) {
      await this.#page.reload()
      await this.#page.waitForFunction(`'replay' in globalThis`)
      const json = JSON.stringify({ ...rest, budget, secret, steps: part })
      answers.push(...(await this.#page.evaluate<string[]>(`replay(${JSON.stringify(json)})`)))
    }
    return answers
  }

  /** The origin of the page, which the edge has to know where the page is to reach it. */
  get origin(): string {
    return new URL(this.#page.url()).origin
  }

  /** Calls a function of a replica in the page, with JSON; to open it, the page is loaded again. */
  async replica(name: 'open' | 'append' | 'context', value: unknown): Promise<string> {
    if (name === 'open') {
      await this.#page.reload()
      await this.#page.waitForFunction(`'synced' in globalThis`)
    }
    return this.#page.evaluate<string>(`synced.${name}(${JSON.stringify(JSON.stringify(value))})`)
  }

  async stop(): Promise<void> {
    await this.#browser.close()
    await this.#server.close()
    rmSync(this.#server.config.cacheDir, { recursive: true, force: true })
  }
}

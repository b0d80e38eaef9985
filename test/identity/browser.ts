import { resolve } from 'node:path'
import { type Browser, chromium, type Page } from 'playwright'
import { findHeadless, flags } from '../chromium.ts'
import { servePageOf } from '../e2e/support/page.ts'
import type { Served } from '../unit/support/served.ts'
import type { Replay } from './steps.ts'

/** A page in Chromium, with the Dexie store over its IndexedDB. */
export class BrowserSide {
  readonly #server: Served
  readonly #browser: Browser
  readonly #page: Page

  private constructor(server: Served, browser: Browser, page: Page) {
    this.#server = server
    this.#browser = browser
    this.#page = page
  }

  static async start(): Promise<BrowserSide> {
    const executablePath = findHeadless()
    const server = await servePageOf(resolve(import.meta.dirname, '../browser/identity.ts'))
    const browser = await chromium.launch({ args: flags, ...(executablePath && { executablePath }) })
    const page = await browser.newPage()
    await page.goto(server.url)
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
  }
}

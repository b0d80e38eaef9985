import { once } from 'node:events'
import type { BrowserContext, Page } from 'playwright'
import { launch } from '../stores/chromium.ts'
import type { page as functions } from './page/main.ts'

type Functions = typeof functions

/** No call of a page takes longer. */
const LIMIT_MS = 120_000

/** The bench's page in a Chromium of its own, with its profile on disk. */
export class DevicePage {
  readonly version: string
  readonly #context: BrowserContext
  readonly #page: Page

  private constructor(context: BrowserContext, page: Page) {
    this.version = context.browser()?.version() ?? 'unknown'
    this.#context = context
    this.#page = page
  }

  static async open(profile: string, url: string): Promise<DevicePage> {
    const context = await launch(profile)
    const page = context.pages()[0] ?? (await context.newPage())
    const device = new DevicePage(context, page)
    await device.load(url)
    return device
  }

  /** Begins again, so that nothing is left of a subject before. */
  async load(url: string): Promise<void> {
    await this.#page.goto(url)
    await this.#page.waitForFunction(() => 'page' in globalThis)
  }

  /** Calls a function of the page with JSON arguments. */
  async call<Name extends keyof Functions>(
    name: Name,
    ...args: Parameters<Functions[Name]>
  ): Promise<Awaited<ReturnType<Functions[Name]>>> {
    const late = AbortSignal.timeout(LIMIT_MS)
    return Promise.race([
      this.#page.evaluate<Awaited<ReturnType<Functions[Name]>>>(`page.${name}(...${JSON.stringify(args)})`),
      once(late, 'abort').then(() => {
        throw new Error(`${name} took longer than ${LIMIT_MS / 1_000} s`)
      }),
    ])
  }

  close(): Promise<void> {
    return this.#context.close()
  }
}

/**
 * Lets Vitest run browser tests in a Firefox as it is installed, over WebDriver BiDi; Playwright
 * can only drive its own build.
 */
import { playwright } from '@vitest/browser-playwright'
import puppeteer, { type Browser, type KeyInput, type Page, type Viewport } from 'puppeteer-core'
import type { BrowserProvider, BrowserProviderOption, TestProject } from 'vitest/node'

declare module 'vitest/browser' {
  interface BrowserCommands {
    __vitest_viewport: (size: Viewport) => Promise<void>
    __vitest_keyboard: (text: string, state: KeyboardState) => Promise<KeyboardState>
    __vitest_cleanup: (state: KeyboardState) => Promise<void>
  }
}

/** Keys that a test holds down, from one call to the next. */
interface KeyboardState {
  readonly unreleased?: readonly string[]
}

interface FirefoxOptions {
  readonly executablePath: string
  /** Milliseconds after which the browser is closed, which fails the run. */
  readonly limit: number
}

/**
 * A provider that opens pages, presses keys in them and closes them: no mocks of modules, no CDP,
 * no other commands that act on a page.
 */
export function firefox(options: FirefoxOptions): BrowserProviderOption<FirefoxOptions> {
  return {
    name: 'firefox-bidi',
    supportedBrowser: ['firefox'],
    options,
    providerFactory: (project) => new FirefoxProvider(project, options),
    // What serves the tests is the same for every provider.
    serverFactory: playwright().serverFactory,
  }
}

class FirefoxProvider implements BrowserProvider {
  readonly name = 'firefox-bidi'
  readonly supportsParallelism = false
  readonly #options: FirefoxOptions
  readonly #pages = new Map<string, Page>()
  #browser: Promise<Browser> | undefined
  #timer: NodeJS.Timeout | undefined

  constructor(project: TestProject, options: FirefoxOptions) {
    this.#options = options
    // Vitest itself gives the first, before each file, and the last, after each test.
    project.browser?.registerCommand('__vitest_viewport', async ({ sessionId }, size) => {
      await this.#pages.get(sessionId)?.setViewport(size)
    })
    project.browser?.registerCommand('__vitest_keyboard', async ({ sessionId }, text, state) => {
      const page = this.#pages.get(sessionId)
      return page ? press(page, text, state) : state
    })
    project.browser?.registerCommand('__vitest_cleanup', async ({ sessionId }, { unreleased = [] }) => {
      for (const key of unreleased) await this.#pages.get(sessionId)?.keyboard.up(key as KeyInput)
    })
  }

  getCommandsContext(): Record<string, unknown> {
    return {}
  }

  async openPage(sessionId: string, url: string): Promise<void> {
    await this.#pages.get(sessionId)?.close()
    this.#browser ??= this.#launch()
    const page = await (await this.#browser).newPage()
    this.#pages.set(sessionId, page)
    await page.goto(url, { timeout: 60_000 })
  }

  async close(): Promise<void> {
    // One that did not start has failed the run by now.
    const browser = await this.#browser?.catch(() => undefined)
    this.#browser = undefined
    this.#pages.clear()
    clearTimeout(this.#timer)
    await browser?.close()
  }

  async #launch(): Promise<Browser> {
    const { executablePath, limit } = this.#options
    const browser = await puppeteer.launch({
      browser: 'firefox',
      executablePath,
      headless: true,
      extraPrefsFirefox: {
        // Vitest gives each tester an import map of its own.
        'dom.multiple_import_maps.enabled': true,
        // A panel that a download opens keeps the focus, and with it the keys.
        'browser.download.alwaysOpenPanel': false,
      },
    })
    this.#timer = setTimeout(() => {
      console.error(`Firefox is closed: the tests took longer than ${limit / 1_000} s.`)
      browser.process()?.kill('SIGKILL')
    }, limit).unref()
    return browser
  }
}

/** Gives the tests' frame the focus, which it has only some time later. */
const FOCUSED = `(() => {
  const frame = document.querySelector('iframe[data-vitest]')
  frame?.focus()
  return frame?.contentDocument.hasFocus()
})()`

/**
 * Presses keys as Vitest writes them: `a`, `{Enter}`, `{Shift>}` (held) and `{/Shift}` (let go of).
 *
 * @returns the keys that are held now
 */
async function press(page: Page, text: string, { unreleased = [] }: KeyboardState): Promise<KeyboardState> {
  const held = new Set(unreleased)
  // Tests before it may have opened windows. Keys reach the tests' frame where it has the focus.
  await page.bringToFront()
  await page.waitForFunction(FOCUSED)
  for (const [whole, name] of text.matchAll(/\{(\/?\w+>?)\}|./gsu)) {
    const key = (name ?? whole).replace(/^\/|>$/g, '') as KeyInput
    if (name?.startsWith('/')) {
      held.delete(key)
      await page.keyboard.up(key)
    } else if (name?.endsWith('>')) {
      held.add(key)
      await page.keyboard.down(key)
    } else await page.keyboard.press(key)
  }
  return { unreleased: [...held] }
}

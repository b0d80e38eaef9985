import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { type BrowserContext, chromium, type Page } from 'playwright'
import { findChromium, flags } from '../../test/chromium.ts'
import type { page as functions } from './page/main.ts'

type Functions = typeof functions

/** The bench's page in a Chromium with a profile on disk. */
export class BenchPage {
  readonly version: string
  readonly #context: BrowserContext
  readonly #server: Server
  readonly #page: Page

  private constructor(context: BrowserContext, server: Server, page: Page) {
    this.version = context.browser()?.version() ?? 'unknown'
    this.#context = context
    this.#server = server
    this.#page = page
  }

  static async open(profile: string): Promise<BenchPage> {
    const server = await serve(await bundlePage(new URL('page/main.ts', import.meta.url)))
    const context = await launch(profile)
    const page = context.pages()[0] ?? (await context.newPage())
    await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
    await page.waitForFunction(() => 'page' in globalThis)
    return new BenchPage(context, server, page)
  }

  /** Calls a function of the page with JSON arguments. */
  call<Name extends keyof Functions>(
    name: Name,
    ...args: Parameters<Functions[Name]>
  ): Promise<Awaited<ReturnType<Functions[Name]>>> {
    return this.#page.evaluate(`page.${name}(...${JSON.stringify(args)})`)
  }

  async close(): Promise<void> {
    await this.#context.close()
    this.#server.closeAllConnections()
    this.#server.close()
  }
}

/** A Chromium with its profile in a folder. */
export async function launch(profile: string): Promise<BrowserContext> {
  const executablePath = findChromium()
  if (!executablePath) throw new Error('no Chromium: run `node test/chromium.ts`')
  return chromium.launchPersistentContext(profile, { executablePath, args: flags })
}

/** The script of a page, from its module. */
export async function bundlePage(entry: URL): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(entry)],
    bundle: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    minify: true,
    write: false,
    logLevel: 'error',
  })
  return outputFiles[0]?.text ?? ''
}

async function serve(script: string): Promise<Server> {
  const server = createServer(({ url }, response) => {
    // Isolated pages get a clock of 5 microseconds, others one of 100.
    response.setHeader('Cross-Origin-Opener-Policy', 'same-origin')
    response.setHeader('Cross-Origin-Embedder-Policy', 'require-corp')
    const isScript = url === '/main.js'
    response.setHeader('Content-Type', isScript ? 'text/javascript' : 'text/html')
    response.end(isScript ? script : '<!doctype html><script type="module" src="/main.js"></script>')
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  return server
}

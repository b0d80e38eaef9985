/** The page of one widget, built as for production and served on an origin of its own. */
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { basename, dirname, extname, join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { build } from 'vite'
import { source } from '../../test/source.ts'
import { builtTag } from '../../test/tag.ts'
import { round } from '../stats.ts'
import { temporaryFolder } from '../stores/temporary.ts'
import type { Subject } from './subjects.ts'

export interface Weight {
  readonly files: number
  readonly gzipKiB: number
}

/** Path of the page that fills. */
const FILL = '/fill/'

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
}

export class Site {
  readonly url: string
  readonly #server: Server
  readonly #files: ReadonlyMap<string, Buffer>
  readonly #asked: Set<string>

  private constructor(url: string, server: Server, files: ReadonlyMap<string, Buffer>, asked: Set<string>) {
    this.url = url
    this.#server = server
    this.#files = files
    this.#asked = asked
  }

  /**
   * Builds the page of a folder of `subjects/`, and serves it. `fill`: another page of that folder,
   * built apart from it.
   */
  static async open({ folder, fill, isTag }: Subject): Promise<Site> {
    const root = fileURLToPath(new URL('subjects', import.meta.url))
    const own = join(root, folder)
    const files = new Map(isTag ? withTag(own) : await built(own, 'index.html', '/'))
    if (fill)
      for (const [path, file] of await built(join(root, dirname(fill)), basename(fill), FILL))
        files.set(path, file)
    const asked = new Set<string>()
    const server = createServer(({ url = '/' }, response) => {
      const { pathname } = new URL(url, 'http://localhost')
      const path = pathname.endsWith('/') ? `${pathname}index.html` : pathname
      asked.add(path)
      const file = files.get(path)
      // Isolated, so that each page gets a process of its own and a clock of 5 microseconds; and
      // nothing is cached.
      response.writeHead(file ? 200 : 404, {
        'Content-Type': TYPES[extname(path)] ?? 'application/octet-stream',
        'Cross-Origin-Opener-Policy': 'same-origin',
        'Cross-Origin-Embedder-Policy': 'require-corp',
        'Cache-Control': 'no-store',
      })
      response.end(file)
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    return new Site(`http://127.0.0.1:${port}/`, server, files, asked)
  }

  /** Where it is filled. */
  get fillUrl(): string {
    return new URL(`.${FILL}`, this.url).href
  }

  /** Scripts and styles of its page: those that were asked for so far, or the others. */
  weigh(which: 'asked' | 'others'): Weight {
    const found = [...this.#files].filter(
      ([path]) =>
        /\.(?:js|css)$/.test(path) && !path.startsWith(FILL) && this.#asked.has(path) === (which === 'asked'),
    )
    const bytes = found.reduce((sum, [, file]) => sum + gzipSync(file, { level: 9 }).length, 0)
    return { files: found.length, gzipKiB: round(bytes / 1024, 4) }
  }

  /** Forgets what was asked for. */
  forget(): void {
    this.#asked.clear()
  }

  close(): void {
    this.#server.closeAllConnections()
    this.#server.close()
  }
}

/** A page as it stands, with the files of the widget. */
function withTag(root: string): [path: string, file: Buffer][] {
  const tag = builtTag()
  return [
    ['/index.html', readFileSync(join(root, 'index.html'))],
    ['/page.css', readFileSync(join(root, '../page.css'))],
    ...readdirSync(tag).map((name): [string, Buffer] => [`/tag/${name}`, readFileSync(join(tag, name))]),
  ]
}

/** What the package `plimsoll-tag` gives. */
const tagFile = (): string => join(builtTag(), 'plimsoll-chat.js')

/** The files of a page by their paths from `base`, where `page` is the index. */
async function built(root: string, page: string, base: string): Promise<[path: string, file: Buffer][]> {
  const out = temporaryFolder()
  await build({
    configFile: false,
    root,
    base,
    resolve: { alias: [...source.alias, { find: /^plimsoll-tag$/, replacement: tagFile() }] },
    build: { outDir: out, emptyOutDir: true, rolldownOptions: { input: join(root, page) } },
    logLevel: 'error',
  })
  return readdirSync(out, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
    .map((path) => [
      base + relative(out, path).replaceAll(sep, '/').replace(page, 'index.html'),
      readFileSync(path),
    ])
}

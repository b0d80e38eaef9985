/**
 * `npm run test:hosts -- [node] [bun] [deno] [next]`: the front ends of `examples/hosts`, each on a
 * port of its own beside an edge that `npm start` runs, with the packed library and in a real
 * browser. Default: `node`. Needs a registry; Next is built, which takes about a minute.
 */
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Browser, chromium } from 'playwright'
import { findChromium, flags } from '../chromium.ts'
import { freePort, type Started, start } from '../started.ts'
import { talk } from './front-end.ts'
import { packed, project, root, run } from './library.ts'

interface Host {
  /** What is installed beside the library. */
  readonly beside: readonly string[]
  /** Of what is built first. */
  readonly build?: readonly string[]
  /** The command, of those that are installed, and its arguments. */
  readonly serve: (port: string) => readonly string[]
}

/** What each of them says once it listens. */
const ADDRESS = /(https?:\/\/\S+)/

const HOSTS: Readonly<Record<string, Host>> = {
  node: { beside: ['node@24'], serve: () => ['node', 'node.ts'] },
  bun: { beside: ['bun@1'], serve: () => ['bun', 'app.ts'] },
  deno: {
    beside: ['deno@2'],
    serve: (port) => ['deno', 'serve', '--host', '127.0.0.1', '--port', port, '--allow-all', 'app.ts'],
  },
  next: {
    beside: [
      ...['next@16', 'react@19', 'react-dom@19', 'ai@7', '@ai-sdk/react@4'],
      ...['typescript@5', '@types/node@24', '@types/react@19'],
    ],
    build: ['next', 'build'],
    serve: (port) => ['next', 'start', '--port', port],
  },
}

const names = process.argv.slice(2)
const unknown = names.find((name) => !Object.hasOwn(HOSTS, name))
if (unknown !== undefined) throw new Error(`${unknown} is none of ${Object.keys(HOSTS).join(', ')}`)

async function walk(folder: string, tarball: string, name: string, edge: string, browser: Browser) {
  const { beside, build, serve } = HOSTS[name] as Host
  project(folder, tarball, beside)
  cpSync(join(root, 'examples/hosts', name === 'next' ? name : ''), folder, { recursive: true })
  const port = String(await freePort())
  const env = { EDGE: edge, NEXT_PUBLIC_EDGE: edge, PORT: port, NEXT_TELEMETRY_DISABLED: '1' }
  // What is built knows the address too.
  Object.assign(process.env, env)
  const bin = (command = ''): string => join(folder, 'node_modules/.bin', command)
  if (build) run(folder, bin(build[0]), ...build.slice(1))
  const [command, ...rest] = serve(port)
  const server = await start(bin(command), rest, ADDRESS, env, folder)
  const page = await browser.newPage()
  try {
    await talk(page, `http://localhost:${port}/`)
  } finally {
    await page.close()
    await server.stop()
  }
}

const workplace = mkdtempSync(join(tmpdir(), 'plimsoll-hosts-'))
let failures = 0
let browser: Browser | undefined
try {
  const tarball = packed(workplace, '--ignore-scripts')
  const executablePath = findChromium()
  browser = await chromium.launch({ args: flags, ...(executablePath && { executablePath }) })
  for (const name of names.length > 0 ? names : ['node']) {
    // Each has an edge that nobody has spoken to.
    const port = String(await freePort())
    const data = join(workplace, `${name}-edge`)
    const command = ['start', '--', '--port', port, '--data', data]
    let edge: Started | undefined
    try {
      edge = await start('npm', command, /Plimsoll is at (\S+)\//)
      await walk(join(workplace, name), tarball, name, edge.found, browser)
      console.log(`ok      ${name}`)
    } catch (error) {
      failures++
      const { stdout = '', message } = error as Error & { readonly stdout?: string }
      console.log(`FAILED  ${name}: ${message}\n${stdout}`)
    } finally {
      await edge?.stop()
    }
  }
} finally {
  await browser?.close()
  rmSync(workplace, { recursive: true, force: true })
}
process.exitCode = failures === 0 ? 0 : 1

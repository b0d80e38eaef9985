/**
 * `npm start`: the edge on this machine, without account, key or network. What it stores is in
 * `.plimsoll/`, or in `--data DIR`.
 *
 * Everybody on this machine is the user `local`, guests are let in, and chats are answered by the
 * scripted demo model. A file `.dev.vars` may say otherwise, with the variables of docs/deploy.md.
 */
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import type { Server } from 'node:http'
import { type AddressInfo, createServer } from 'node:net'
import { resolve } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { parseArgs, parseEnv } from 'node:util'
import { type Front, listen } from './front.ts'
import { callingNpm, whenOrphaned } from './orphan.ts'
import { buildPage, isBuilt } from './page.ts'

const root = resolve(import.meta.dirname, '../..')
const HOST = '127.0.0.1'
const POLL_MS = 100
/** For what was told to end. */
const PATIENCE_MS = 5_000

/**
 * Known to everybody who reads this, so it guards nothing: it is for loopback hosts, where
 * everybody is let in anyway.
 */
const GUEST_SECRET = 'for development on a loopback host: no secret'

const QUIET = {
  // It would ask where on Earth it runs, whether there is a newer version, and tell its maker that
  // it was started.
  CLOUDFLARE_CF_FETCH_ENABLED: 'false',
  WRANGLER_HIDE_BANNER: 'true',
  WRANGLER_SEND_METRICS: 'false',
  WRANGLER_WRITE_LOGS: 'false',
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      port: { type: 'string', default: '8787' },
      data: { type: 'string', default: '.plimsoll' },
    },
  })
  const port = Number(values.port)
  if (!Number.isInteger(port) || port < 1 || port > 65_535)
    throw new Error(`--port must be 1 to 65535, not ${values.port}.`)
  const npm = callingNpm()
  const inner = await freePort()
  const key = randomBytes(32).toString('hex')
  const front = await claim(port, { port: inner, headers: { 'Plimsoll-Development': key } })
  if (!isBuilt()) await buildPage()
  const edge = spawn(process.execPath, [...program(inner, values.data, key)], {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit'],
    env: { ...process.env, ...QUIET },
  })
  // It ends what it started itself; this process waits for that.
  const stop = (): void => {
    edge.kill('SIGTERM')
    setTimeout(() => edge.kill('SIGKILL'), PATIENCE_MS).unref()
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, stop)
  whenOrphaned(stop, npm)
  const ended = once(edge, 'exit')
  const url = `http://${HOST}:${port}`
  const isReady = await Promise.race([ready(url), ended.then(() => false)])
  if (isReady) console.log(greeting(url, values.data))
  const [code, signal] = (await ended) as [number | null, string | null]
  front.close()
  front.closeAllConnections()
  process.exitCode = signal === null ? (code ?? 0) : 0
}

/** Listens before anything is started. @throws where a port is taken */
async function claim(port: number, front: Front): Promise<Server> {
  try {
    return await listen(port, front)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EADDRINUSE')
      throw new Error(
        `Port ${port} is taken: perhaps an edge runs there already. Another one: npm start -- --port ${port + 1}`,
      )
    throw new Error(`Port ${port} cannot be used (${code}). Another one: npm start -- --port 8787`)
  }
}

/** A port for what stands behind the front. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, HOST)
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

function program(port: number, data: string, key: string): readonly string[] {
  return [
    ...['--import', pathToFileURL(resolve(import.meta.dirname, 'end-with-parent.ts')).href],
    resolve(root, 'node_modules/wrangler/bin/wrangler.js'),
    'dev',
    ...['--ip', HOST, '--port', String(port), '--inspector-port', '0', '--persist-to', data],
    ...['--var', 'AUTH:development', '--var', `DEVELOPMENT_KEY:${key}`],
    ...['--var', `GUEST_SECRET:${GUEST_SECRET}`],
    ...['--log-level', 'warn', '--show-interactive-dev-session=false'],
  ]
}

/** Resolves when it answers. */
async function ready(url: string): Promise<true> {
  for (;;) {
    try {
      if ((await fetch(`${url}/health`)).ok) return true
    } catch {
      // It does not listen yet.
    }
    await wait(POLL_MS)
  }
}

function greeting(url: string, data: string): string {
  return `
Plimsoll is at ${url}/

  ${url}/         an assistant, with the inspector beside it; it can be installed
  ${url}/docs     every route of the edge
  ${url}/health   whether it runs

The page makes you a guest of this browser. A call of your own is the user "local", with any token or none.
${answering()} What is stored is in ${data}/. Ctrl-C ends it.
`
}

/** Who answers chats, by what wrangler reads too. */
function answering(): string {
  const path = resolve(root, '.dev.vars')
  const { MODEL_ID, MODEL_BASE_URL } = existsSync(path) ? parseEnv(readFileSync(path, 'utf8')) : {}
  return MODEL_ID && MODEL_BASE_URL
    ? `Chats are answered by ${MODEL_ID} at ${MODEL_BASE_URL}.`
    : 'Chats are answered by a scripted demo, which says so, until .dev.vars names a model (docs/deploy.md).'
}

try {
  await main()
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
}

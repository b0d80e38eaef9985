import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { get, type IncomingMessage } from 'node:http'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { chromium } from 'playwright'
import { afterEach, describe, expect, it } from 'vitest'
import { createClient } from '../../src/client/index.ts'
import { buildPage } from '../../worker/local/page.ts'
import { findChromium, flags } from '../chromium.ts'
import { talk } from '../install/front-end.ts'
import { freePort, start } from '../started.ts'

const root = resolve(import.meta.dirname, '../..')
const data = mkdtempSync(join(tmpdir(), 'plimsoll-start-'))
const running: ChildProcess[] = []

afterEach(() => {
  for (const { pid } of running.splice(0))
    if (pid !== undefined && isAlive(pid)) process.kill(-pid, 'SIGKILL')
  rmSync(data, { recursive: true, force: true })
})

/** `npm start`, as a terminal has it: in a process group of its own. */
function npmStart(port: number): { readonly child: ChildProcess; said(): string } {
  const child = spawn('npm', ['start', '--', '--port', String(port), '--data', data], {
    cwd: root,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  running.push(child)
  let said = ''
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (chunk: Buffer) => {
      said += chunk.toString()
    })
  return { child, said: () => said }
}

/** Whether anything of a process group runs. */
function isAlive(group: number): boolean {
  try {
    process.kill(-group, 0)
    return true
  } catch {
    return false
  }
}

it('says that its port is taken, and starts nothing', async () => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  try {
    const { child, said } = npmStart(port)
    const [code] = await once(child, 'exit')
    expect(code).toBe(1)
    expect(said()).toContain(`Port ${port} is taken`)
    expect(said()).toContain(`npm start -- --port ${port + 1}`)
  } finally {
    server.close()
  }
})

const page = resolve(root, 'dist/web/index.html')

it('lets in the user and guests, answers by the demo, builds nothing, and leaves nothing running after Ctrl-C', async () => {
  await buildPage()
  const { mtimeMs } = statSync(page)
  const port = await freePort()
  const { child, said } = npmStart(port)
  await expect.poll(said, { timeout: 60_000 }).toContain('Plimsoll is at')
  const url = `http://127.0.0.1:${port}`
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
    expect([host, await statusOf(port, { ...headers, host })]).toEqual([host, status])
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
  await frontEnd(url)
  const guest = await fetch(`${url}/v1/guests`, { method: 'POST' })
  expect(guest.status).toBe(201)
  const { token } = (await guest.json()) as { token: string }
  const theirs = await fetch(`${url}/v1/sessions/trip`, { headers: { Authorization: `Bearer ${token}` } })
  expect(theirs.status).toBe(404)
  expect(statSync(page).mtimeMs).toBe(mtimeMs)
  const group = child.pid as number
  process.kill(-group, 'SIGINT')
  await expect.poll(() => isAlive(group), { timeout: 15_000 }).toBe(false)
  await expect(fetch(url)).rejects.toThrow()
}, 90_000)

describe('frees its port, and leaves nothing running, when one of its processes gets a signal to end', () => {
  it.each([
    ['npm', 'SIGTERM'],
    ['npm', 'SIGKILL'],
    ['the script', 'SIGKILL'],
  ] as const)(
    '%s, by %s',
    async (who, signal) => {
      const port = await freePort()
      const { child, said } = npmStart(port)
      await expect.poll(said, { timeout: 60_000 }).toContain('Plimsoll is at')
      const group = child.pid as number
      const pid =
        who === 'npm'
          ? group
          : processesOf(group).find(({ command }) => /local\/start\.ts/.test(command))?.pid
      process.kill(pid ?? 0, signal)
      await expect.poll(() => isAlive(group), { timeout: 15_000 }).toBe(false)
      const server = createServer().listen(port, '127.0.0.1')
      await once(server, 'listening')
      server.close()
    },
    90_000,
  )
})

it('serves its page all the while another one is built, what was open before too', async () => {
  const port = await freePort()
  const { said } = npmStart(port)
  await expect.poll(said, { timeout: 60_000 }).toContain('Plimsoll is at')
  const url = `http://127.0.0.1:${port}/`
  const [, script = ''] = /src="(\/assets\/[^"]+)"/.exec(await (await fetch(url)).text()) ?? []
  expect(script).not.toBe('')
  let isBuilding = true
  const building = buildPage({ only: true }).finally(() => {
    isBuilding = false
  })
  const answers = new Set<string>()
  while (isBuilding) {
    for (const path of ['', script, 'sw.js', 'docs']) {
      const answer = await fetch(new URL(path, url))
      answers.add(`${path} ${answer.status} ${(await answer.text()).length > 100}`)
    }
  }
  await building
  expect([...answers].sort()).toEqual(
    [' 200 true', `${script} 200 true`, 'docs 200 true', 'sw.js 200 true'].sort(),
  )
}, 90_000)

/** The front end of `examples/hosts` at a port of its own, in a real browser. */
async function frontEnd(edge: string): Promise<void> {
  const port = String(await freePort())
  const server = await start(process.execPath, ['examples/hosts/node.ts'], /(http:\S+)/, {
    EDGE: edge,
    PORT: port,
  })
  const executablePath = findChromium()
  const browser = await chromium.launch({ args: flags, ...(executablePath && { executablePath }) })
  try {
    await talk(await browser.newPage(), server.found)
    const told: string[] = []
    const close = createClient({ baseUrl: edge })
      .session('trip')
      .live(({ type }) => told.push(type))
    await expect.poll(() => told).toEqual(['open'])
    close()
  } finally {
    await browser.close()
    await server.stop()
  }
}

/** Of `/v1/sessions`, with any `Host`, which `fetch` sets by itself. */
async function statusOf(port: number, headers: Record<string, string>): Promise<number | undefined> {
  const asked = get({ host: '127.0.0.1', port, path: '/v1/sessions', headers })
  const [answer] = (await once(asked, 'response')) as [IncomingMessage]
  answer.resume()
  return answer.statusCode
}

function processesOf(group: number): readonly { readonly pid: number; readonly command: string }[] {
  return (
    execFileSync('ps', ['-eo', 'pid=,pgid=,args='], { encoding: 'utf8' })
      .split('\n')
      .map((line) => /^ *(\d+) +(\d+) (.*)$/.exec(line))
      .flatMap((found) =>
        found?.[1] && Number(found[2]) === group ? [{ pid: Number(found[1]), command: found[3] ?? '' }] : [],
      )
      // A shell that runs it has its name too.
      .filter(({ command }) => !/^\S*sh -c/.test(command))
  )
}

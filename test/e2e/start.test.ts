import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { freePort } from '../started.ts'

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

it('lets in the user and guests, answers by the demo, and leaves nothing running after Ctrl-C', async () => {
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
  const guest = await fetch(`${url}/v1/guests`, { method: 'POST' })
  expect(guest.status).toBe(201)
  const { token } = (await guest.json()) as { token: string }
  const theirs = await fetch(`${url}/v1/sessions/trip`, { headers: { Authorization: `Bearer ${token}` } })
  expect(theirs.status).toBe(404)
  const group = child.pid as number
  process.kill(-group, 'SIGINT')
  await expect.poll(() => isAlive(group), { timeout: 15_000 }).toBe(false)
  await expect(fetch(url)).rejects.toThrow()
}, 90_000)

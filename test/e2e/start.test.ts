/** How `npm start` begins and ends; `served.test.ts` has what it serves meanwhile. */
import { execFile, execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, expect, it } from 'vitest'
import { isBuilt } from '../../worker/local/page.ts'
import { freePort, type Started } from '../started.ts'
import { isAlive, npmStart } from './support/npm-start.ts'

const page = resolve(import.meta.dirname, '../../dist/web')
/** A file that pages of an earlier build ask for. */
const earlier = join(page, 'assets/earlier.js')
const data = mkdtempSync(join(tmpdir(), 'plimsoll-start-'))
const running: Started[] = []

afterEach(() => {
  for (const one of running.splice(0)) if (isAlive(one)) process.kill(-one.pid, 'SIGKILL')
  rmSync(data, { recursive: true, force: true })
  rmSync(earlier, { force: true })
})

async function started(): Promise<Started> {
  const one = await npmStart(await freePort(), data)
  running.push(one)
  return one
}

/** That nothing runs any more, and that the port is free. */
async function expectFreed(one: Started): Promise<void> {
  await expect.poll(() => isAlive(one), { timeout: 15_000 }).toBe(false)
  const server = createServer().listen(Number(new URL(one.found).port), '127.0.0.1')
  await once(server, 'listening')
  server.close()
}

it('says that its port is taken, and starts nothing', async () => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  try {
    const said = await npmStart(port, data).then(String, String)
    expect(said).toContain('ended with 1')
    expect(said).toContain(`Port ${port} is taken`)
    expect(said).toContain(`npm start -- --port ${port + 1}`)
  } finally {
    server.close()
  }
})

it.each(['npm', 'the script'])(
  'frees its port, and leaves nothing running, when %s is killed',
  async (who) => {
    const one = await started()
    const script = processesOf(one.pid).find(({ command }) => /local\/start\.ts/.test(command))
    expect(script).toBeDefined()
    process.kill((who === 'the script' && script?.pid) || one.pid, 'SIGKILL')
    await expectFreed(one)
  },
  90_000,
)

it('builds nothing, serves its page all the while another one is built, what was open before too, and ends with npm', async () => {
  if (!isBuilt()) await buildPage()
  writeFileSync(earlier, '// '.padEnd(200, 'long '))
  const index = join(page, 'index.html')
  const { mtimeMs } = statSync(index)
  const one = await started()
  expect(statSync(index).mtimeMs).toBe(mtimeMs)
  const [, script = ''] = /src="(\/assets\/[^"]+)"/.exec(await (await fetch(one.found)).text()) ?? []
  expect(script).not.toBe('')
  let isBuilding = true
  const building = buildPage().finally(() => {
    isBuilding = false
  })
  const answers = new Set<string>()
  while (isBuilding) {
    for (const path of ['', script, 'assets/earlier.js', 'sw.js', 'docs']) {
      const answer = await fetch(new URL(path, one.found))
      answers.add(`${path} ${answer.status} ${(await answer.text()).length > 100}`)
    }
  }
  await building
  expect([...answers].sort()).toEqual(
    ['', script, 'assets/earlier.js', 'docs', 'sw.js'].map((path) => `${path} 200 true`).sort(),
  )
  process.kill(one.pid, 'SIGTERM')
  await expectFreed(one)
}, 90_000)

/** In a process of its own: what is built in one that tests holds what is for developers alone. */
async function buildPage(): Promise<void> {
  const env = { ...process.env, NODE_ENV: 'production' }
  await promisify(execFile)(process.execPath, ['worker/local/page.ts'], { env })
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

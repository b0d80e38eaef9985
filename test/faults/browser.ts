/**
 * What a Chromium does to the Dexie store that no test inside a page can show: it is killed in the
 * middle of writing, has no more room, or has to clear the origin's data.
 * `KILLS=100 npm run test:browser-faults` kills as often; by default 20 times.
 */
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { EventEmitter, once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync, truncateSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { chromium, type Page } from 'playwright'
import { createServer } from 'vite'
import { findChromium, flags } from '../chromium.ts'

const KILLS = Number(process.env.KILLS ?? 20)
interface Found {
  readonly ids: readonly string[]
  readonly gapless: boolean
  readonly state: string
}

/**
 * What no browser here takes on a slow machine: one that hangs ends then, and with it what waits
 * for it.
 */
const LONGEST_MS = 180_000
/**
 * Of LevelDB's logs: bytes of a block and of the header of a part, and which parts end a record.
 */
const BLOCK = 32_768
const HEADER = 7
const [ALL, LAST] = [1, 4]
const folders: string[] = []

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'plimsoll-faults-'))
  folders.push(folder)
  return folder
}

/** Runs it in a page of a Chromium of its own, which is killed when it is done. */
async function withBrowser(profile: string, use: (page: Page) => Promise<void>): Promise<void> {
  for (const name of readdirSync(profile))
    if (name.startsWith('Singleton')) rmSync(join(profile, name), { force: true })
  const path = findChromium()
  if (!path) throw new Error('no Chromium: run `node test/chromium.ts`')
  // A process group of its own, so that its renderers and its storage die with it.
  const child = spawn(
    path,
    [...flags, '--headless=new', '--remote-debugging-port=0', `--user-data-dir=${profile}`, 'about:blank'],
    {
      detached: true,
      stdio: ['ignore', 'ignore', 'pipe'],
      timeout: LONGEST_MS,
      killSignal: 'SIGKILL',
    },
  )
  // They share its stderr, so it is closed when the last of them is gone.
  const closed = once(child, 'close')
  try {
    const connected = await chromium.connectOverCDP(await addressOf(child), { timeout: 0 })
    const [context] = connected.contexts()
    if (!context) throw new Error('Chromium has no context')
    context.setDefaultTimeout(0)
    await use(await context.newPage())
  } finally {
    if (child.pid && child.exitCode === null && child.signalCode === null) process.kill(-child.pid, 'SIGKILL')
    await closed
  }
}

/** Where a Chromium takes commands. */
function addressOf({ stderr }: ChildProcess): Promise<string> {
  return new Promise((found, failed) => {
    // It is read to its end: Chromium would stand still before a pipe that is full.
    createInterface({ input: stderr as Readable })
      .on('line', (line) => {
        const url = /^DevTools listening on (\S+)/.exec(line)?.[1]
        if (url) found(url)
      })
      .once('close', () => failed(new Error('Chromium ended before it listened')))
  })
}

const server = await createServer({
  configFile: false,
  root: resolve(import.meta.dirname, '../..'),
  cacheDir: newFolder(),
  logLevel: 'error',
  optimizeDeps: { include: ['dexie'], noDiscovery: true },
  server: { host: '127.0.0.1', port: 0, hmr: false, watch: null },
})
await server.listen()
const origin = server.resolvedUrls?.local[0]?.replace(/\/$/, '') ?? ''

async function load(page: Page): Promise<void> {
  await page.goto(`${origin}/test/browser/faults.html`)
  await page.waitForFunction(() => 'fill' in globalThis)
}

/** Calls a function of the page with JSON arguments. */
const call = <Result>(page: Page, name: string, ...args: unknown[]): Promise<Result> =>
  page.evaluate(`${name}(...${JSON.stringify(args)})`) as Promise<Result>

/** A random time between, to kill at. */
const pause = (least: number, most: number): Promise<void> =>
  new Promise((done) => setTimeout(done, least + Math.random() * (most - least)))

/**
 * Cuts off what LevelDB had written of a record when it was killed: nobody was told of that one. By
 * itself it goes on behind it, finds that corrupt a start later, and Chromium then drops the whole
 * database (google/leveldb#1287).
 *
 * @returns how many there were
 */
function cutTornRecords(profile: string): number {
  const folder = join(profile, 'Default/IndexedDB')
  let torn = 0
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    if (!/\.log$|MANIFEST-\d+$/.test(name)) continue
    const path = join(folder, name)
    const bytes = readFileSync(path)
    const end = endOfWholeRecords(bytes)
    if (end === bytes.length) continue
    truncateSync(path, end)
    torn++
  }
  return torn
}

/**
 * By LevelDB's doc/log_format.md: blocks of parts, each with a checksum, its length, and which part
 * of a record it is.
 */
function endOfWholeRecords(bytes: Buffer): number {
  let whole = 0
  for (let at = 0; at + HEADER <= bytes.length; ) {
    const room = BLOCK - (at % BLOCK)
    const end = room < HEADER ? at + room : at + HEADER + bytes.readUInt16LE(at + 4)
    if (end > bytes.length) break
    if (room >= HEADER && [ALL, LAST].includes(bytes.readUInt8(at + 6))) whole = end
    at = end
  }
  return whole
}

async function killed(durability: 'strict' | 'relaxed', times: number): Promise<void> {
  const folder = newFolder()
  const options = { name: 'killed', durability }
  const acknowledged = new Map<string, number>()
  let torn = 0
  for (let time = 0; time < times; time++) {
    await withBrowser(folder, async (page) => {
      const told = new EventEmitter<{ acknowledged: [] }>()
      await page.exposeFunction('acknowledge', (id: string, seq: number) => {
        acknowledged.set(id, seq)
        told.emit('acknowledged')
      })
      await load(page)
      const killTime = once(told, 'acknowledged').then(() => pause(30, 400))
      // It has no end but an error.
      await Promise.race([killTime, call(page, 'write', options, `${durability}-${time}`)])
    })
    torn += cutTornRecords(folder)
  }
  await withBrowser(folder, async (page) => {
    await load(page)
    const { ids, gapless, state } = await call<Found>(page, 'find', options)
    assert.equal(state, 'ready')
    assert.ok(gapless, 'the log has a gap, or part of an op')
    assert.equal(new Set(ids).size, ids.length, 'an op was written twice')
    const lost = [...acknowledged].filter(([id, seq]) => ids[seq - 1] !== id)
    assert.equal(lost.length, 0, `acknowledged ops are gone, or moved: ${lost.slice(0, 5).join('; ')}`)
    const last = ids.at(-1) ?? ''
    assert.equal(await call<number>(page, 'resend', options, last), ids.length)
    assert.equal((await call<Found>(page, 'find', options)).ids.length, ids.length)
    console.log(
      `killed ${times} times (${durability}): ${acknowledged.size} ops acknowledged, 0 lost, ${ids.length} there, no gap; ` +
        `${torn} records that LevelDB had written in part`,
    )
  })
}

async function full(): Promise<void> {
  await withBrowser(newFolder(), async (page) => {
    const session = await page.context().newCDPSession(page)
    // Set after the first use it would have no effect.
    await session.send('Storage.overrideQuotaForOrigin', { origin, quotaSize: 8 * 2 ** 20 })
    await load(page)
    const found = await call<Record<string, unknown>>(page, 'fill', { name: 'full' })
    console.log(`full at 8 MiB: ${JSON.stringify(found)}`)
    assert.equal(found.code, 'ERR_STORAGE_FULL')
    assert.equal(found.readBack, found.acknowledged)
    assert.equal(found.rows, found.acknowledged)
    assert.ok(Number(found.acknowledged) > 4)
    assert.deepEqual([found.deleted, found.emptied, found.status], [8, 8, 'ready'])
  })
}

async function cleared(): Promise<void> {
  await withBrowser(newFolder(), async (page) => {
    await load(page)
    assert.equal(await call(page, 'resend', { name: 'cleared' }, 'before'), 1)
    await page.evaluate(`Object.assign(globalThis, { held: hold({ name: 'cleared' }) })`)
    assert.equal(await page.evaluate('held.then(({ look }) => look())'), 'ready')
    const session = await page.context().newCDPSession(page)
    await session.send('Storage.clearDataForOrigin', { origin, storageTypes: 'all' })
    assert.equal(await page.evaluate('held.then(({ look }) => look())'), 'lost ERR_STORAGE_LOST')
    console.log(`the origin's data cleared while a page was open: noticed`)
  })
}

try {
  await full()
  await cleared()
  await killed('strict', Math.ceil(KILLS / 2))
  await killed('relaxed', Math.floor(KILLS / 2))
} finally {
  await server.close()
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
}

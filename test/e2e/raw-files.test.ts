/**
 * What lies on the disk where a memory is encrypted (T41). LevelDB and Chromium compress, and write
 * strings of one byte a character as such and others as UTF-16; so each canary is 240 random bits,
 * which no compression shortens, and is looked for in both. The same inputs in the clear are the
 * control: there the search must find every one.
 */
import { createDecipheriv, randomBytes } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { build } from 'esbuild'
import { type BrowserContext, chromium, type Page } from 'playwright'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { prefixed } from '../../src/stores/encrypted/cipher.ts'
import { findHeadless, flags } from '../chromium.ts'
import { type Canaries, INPUTS } from '../everywhere/canaries.ts'
import { BareWorkerd } from '../kill/bare-workerd.ts'
import type { Served } from '../unit/support/served.ts'
import { servePageOf } from './support/page.ts'

const root = resolve(import.meta.dirname, '../..')
/** Where in a profile Chromium keeps the databases of pages. */
const STORED = 'Default/IndexedDB'
const folders: string[] = []

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'plimsoll-files-'))
  folders.push(folder)
  return folder
}

afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

const canary = (): string => randomBytes(30).toString('base64url')

function newCanaries(): Canaries {
  return Object.fromEntries(INPUTS.map((input) => [input, canary()])) as Canaries
}

function readFiles(folder: string): readonly Buffer[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => readFileSync(join(parentPath, name)))
}

/** Inputs of which a file under the folder holds the canary. */
function foundIn(folder: string, canaries: Readonly<Record<string, string>>): readonly string[] {
  const files = readFiles(folder)
  return Object.entries(canaries).flatMap(([input, text]) => {
    const forms = [Buffer.from(text), Buffer.from(text, 'utf16le')]
    return files.some((file) => forms.some((form) => file.includes(form))) ? [input] : []
  })
}

describe('the profile of a Chromium', () => {
  let server: Served
  let running: BrowserContext | undefined

  beforeAll(async () => {
    server = await servePageOf(join(root, 'test/browser/canaries.ts'))
  })

  afterEach(() => running?.close())
  afterAll(() => server.close())

  /** Runs it in a page of a browser that is closed again before its files are read. */
  async function inBrowser(profile: string, run: (call: Call) => Promise<void>): Promise<void> {
    const executablePath = findHeadless()
    running = await chromium.launchPersistentContext(profile, {
      args: flags,
      ...(executablePath && { executablePath }),
    })
    const page = await running.newPage()
    await page.goto(server.url)
    await page.waitForFunction(() => 'write' in globalThis)
    await run((name, ...args) => callIn(page, name, args))
    await running.close()
  }

  type Call = <Result>(name: string, ...args: unknown[]) => Promise<Result>

  function callIn<Result>(page: Page, name: string, args: readonly unknown[]): Promise<Result> {
    return page.evaluate(`${name}(...${JSON.stringify(args)})`) as Promise<Result>
  }

  it('holds nothing of what is encrypted, before and after it is erased or its key destroyed', async () => {
    const profile = newFolder()
    const [clear, encrypted, kept, passphrase] = [newCanaries(), newCanaries(), newCanaries(), canary()]
    await inBrowser(profile, async (call) => {
      await call('write', 'clear', clear)
      expect(await call<string>('write', 'encrypted', encrypted, passphrase)).toContain(encrypted.message)
      expect(await call<string>('write', 'kept', kept, '')).toContain(kept.message)
    })
    expect(foundIn(join(profile, STORED), clear)).toEqual(INPUTS)
    const secrets = { ...prefixedBy('encrypted', encrypted), ...prefixedBy('kept', kept), passphrase }
    expect(foundIn(profile, secrets)).toEqual([])
    await inBrowser(profile, async (call) => {
      await call('erase', 'encrypted', passphrase)
      await call('destroy', 'kept')
    })
    expect(foundIn(profile, secrets)).toEqual([])
  }, 60_000)

  it('still holds the bytes of a key that was destroyed, as docs/encryption.md says', async () => {
    const profile = newFolder()
    let wrapped: WrappedKey | undefined
    await inBrowser(profile, async (call) => {
      await call('write', 'kept', newCanaries(), '')
      wrapped = await call<WrappedKey>('wrappedKey', 'kept')
    })
    expect(isOpenedFrom(join(profile, STORED), wrapped)).toBe(true)
    await inBrowser(profile, (call) => call('destroy', 'kept'))
    expect(isOpenedFrom(join(profile, STORED), wrapped)).toBe(true)
  }, 60_000)
})

interface WrappedKey {
  readonly id: string
  /** Base64. */
  readonly wrapped: string
}

/**
 * Whether any 32 bytes of a file unwrap the session's data key. Chromium writes the length of a key
 * before it.
 */
function isOpenedFrom(folder: string, stored: WrappedKey | undefined): boolean {
  if (!stored) throw new Error('there is no data key')
  const sealed = Buffer.from(stored.wrapped, 'base64')
  const place = prefixed(['p1', 'data-key', undefined, 'ada', 'trip', stored.id])
  return readFiles(folder).some((file) => {
    for (let at = file.indexOf(32) + 1; at > 0; at = file.indexOf(32, at) + 1)
      if (opens(file.subarray(at, at + 32), place, sealed)) return true
    return false
  })
}

function opens(key: Buffer, place: Uint8Array, sealed: Buffer): boolean {
  if (key.length < 32) return false
  const cipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, 12))
  cipher.setAAD(place)
  cipher.setAuthTag(sealed.subarray(-16))
  cipher.update(sealed.subarray(12, -16))
  try {
    cipher.final()
    return true
  } catch {
    return false
  }
}

function prefixedBy(name: string, canaries: Canaries): Readonly<Record<string, string>> {
  return Object.fromEntries(INPUTS.map((input) => [`${name} ${input}`, canaries[input]]))
}

describe('the SQLite files of a Durable Object', () => {
  let running: BareWorkerd | undefined
  afterEach(() => running?.kill())

  it('hold nothing of what is encrypted, before and after it is erased', async () => {
    const folder = newFolder()
    await build({
      entryPoints: [join(root, 'test/workerd/canary-object.ts')],
      outfile: join(folder, 'worker.js'),
      bundle: true,
      format: 'esm',
      external: ['cloudflare:workers'],
      logLevel: 'error',
    })
    const objects = { binding: 'OBJECTS', className: 'CanaryObject', uniqueKey: 'canaries' }
    const edge = new BareWorkerd(folder, [{ name: 'main', module: 'worker.js', ...objects }])
    running = edge
    await edge.start()
    const [clear, encrypted, secret] = [newCanaries(), newCanaries(), canary()]
    const call = async (object: string, body: object): Promise<string> => {
      const response = await fetch(`${edge.url}/${object}`, {
        method: 'POST',
        body: JSON.stringify(body),
      })
      expect(response.status).toBe(200)
      return response.text()
    }
    await call('clear', { canaries: clear })
    expect(await call('encrypted', { canaries: encrypted, secret })).toContain(encrypted.message)
    await running.kill()
    const files = running.objects(objects.uniqueKey)
    expect(foundIn(files, clear)).toEqual(INPUTS)
    expect(foundIn(files, { ...encrypted, secret })).toEqual([])
    await running.start()
    await call('encrypted', { secret })
    await running.kill()
    expect(foundIn(files, { ...encrypted, secret })).toEqual([])
  }, 60_000)
})

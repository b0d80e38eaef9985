import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { freePort } from '../started.ts'

const root = resolve(import.meta.dirname, '../..')
const TIMEOUT_MS = 120_000
/** Between the outputs of two blocks. */
const MARK = '=== end of a block ==='

/** Commands of the page, and what it says that they print. */
interface Step {
  readonly commands: string
  readonly shown: string
}

function stepsOf(markdown: string): readonly Step[] {
  const blocks = [...markdown.matchAll(/^```(bash|text)\n(.*?)^```$/gms)].map(([, kind, text = '']) => ({
    kind,
    text,
  }))
  return blocks.flatMap(({ kind, text }, index) => {
    const next = blocks[index + 1]
    return kind === 'bash' ? [{ commands: text, shown: next?.kind === 'text' ? next.text : '' }] : []
  })
}

/**
 * What is said on the page as a pattern: `…` stands for anything, and so do ids and times, which
 * differ each time.
 */
function patternOf(shown: string): RegExp {
  const text = shown
    .trim()
    .replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
    .replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '[0-9a-f-]{36}')
    .replace(/(?<="id":")[\w-]{43}(?=")/g, '[\\w-]{43}')
    .replace(/\b\d{13}\b/g, '\\d{13}')
    .replaceAll('…', '[^]*?')
  return new RegExp(`^\\s*${text}\\s*$`)
}

const steps = stepsOf(readFileSync(resolve(root, 'docs/quickstart.md'), 'utf8'))
const data = mkdtempSync(join(tmpdir(), 'plimsoll-quickstart-'))
let outputs: readonly string[] = []
/** What the edge said: it tells why there is no output. */
let log = ''

beforeAll(async () => {
  const port = await freePort()
  const script = steps
    .map(({ commands }) => `${commands}echo\necho '${MARK}'\n`)
    .join('')
    // It is installed here; its port may be taken, and its folder may hold somebody's
    // conversations.
    .replace(/^npm ci$/m, '')
    .replaceAll('npm start >', `npm start -- --port ${port} --data '${data}' >`)
    .replaceAll('8787', String(port))
    .replaceAll('edge.log', `'${join(data, 'edge.log')}'`)
  // Monitor mode, as in a terminal: what is put into the background is a process group of its own.
  const bash = spawn('bash', ['-c', `set -m\n${script}`], { cwd: root, stdio: ['ignore', 'pipe', 'ignore'] })
  let said = ''
  bash.stdout.on('data', (chunk: Buffer) => {
    said += chunk.toString()
  })
  const timer = setTimeout(() => bash.kill('SIGKILL'), TIMEOUT_MS)
  await once(bash, 'close')
  clearTimeout(timer)
  outputs = said.split(MARK)
  log = readFileSync(join(data, 'edge.log'), 'utf8')
}, TIMEOUT_MS + 10_000)

afterAll(() => rmSync(data, { recursive: true, force: true }))

describe('the quickstart prints what it says', () => {
  for (const [index, { commands, shown }] of steps.entries())
    it(`for ${commands.trim().split('\n').at(-1)}`, () =>
      expect(outputs[index], log).toMatch(patternOf(shown)))
})

import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { outputsOf, patternOf, stepsOf } from '../page-commands.ts'
import { freePort } from '../started.ts'

const root = resolve(import.meta.dirname, '../..')

const steps = stepsOf(readFileSync(resolve(root, 'docs/quickstart.md'), 'utf8'))
const data = mkdtempSync(join(tmpdir(), 'plimsoll-quickstart-'))
let outputs: readonly string[] = []
/** What the edge said: it tells why there is no output. */
let log = ''

beforeAll(async () => {
  const port = await freePort()
  const blocks = steps.map(({ commands }) =>
    commands
      // It is installed here; its port may be taken, and its folder may hold somebody's
      // conversations.
      .replace(/^npm ci$/m, '')
      .replaceAll('npm start >', `npm start -- --port ${port} --data '${data}' >`)
      .replaceAll('8787', String(port))
      .replaceAll('edge.log', `'${join(data, 'edge.log')}'`),
  )
  outputs = await outputsOf(blocks, { cwd: root })
  log = readFileSync(join(data, 'edge.log'), 'utf8')
}, 130_000)

afterAll(() => rmSync(data, { recursive: true, force: true }))

describe('the quickstart prints what it says', () => {
  for (const [index, { commands, shown }] of steps.entries())
    it(`for ${commands.trim().split('\n').at(-1)}`, () =>
      expect(outputs[index], log).toMatch(patternOf(shown)))
})

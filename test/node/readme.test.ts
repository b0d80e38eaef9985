/** README: its length, its program, and its figures beside those of the command that it names. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, onTestFinished, test, vi } from 'vitest'
import manifest from '../../package.json' with { type: 'json' }
import { blocksOf, moduleOf } from '../install/blocks.ts'
import { plimsoll } from '../unit/support/command.ts'

const root = resolve(import.meta.dirname, '../..')
const readme = readFileSync(join(root, 'README.md'), 'utf8')

test('README has at most 120 lines', () => {
  expect(readme.trimEnd().split('\n').length).toBeLessThanOrEqual(120)
})

test('the ten lines run, and print the request and its tokens', async () => {
  const [block] = blocksOf('README.md', readme)
  if (!block) throw new Error('README has no block of code')
  expect(block.code.filter((line) => line !== '').length).toBeLessThanOrEqual(10)
  const folder = mkdtempSync(join(tmpdir(), 'plimsoll-readme-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const library = join(root, 'src/index.ts').replaceAll('\\', '/')
  const file = join(folder, block.file)
  writeFileSync(file, moduleOf(block).replace(`from 'plimsoll'`, `from '${library}'`))
  const log = vi.spyOn(console, 'log').mockImplementation(() => {})
  onTestFinished(() => log.mockRestore())
  await import(/* @vite-ignore */ pathToFileURL(file).href)
  expect(log.mock.calls).toEqual([
    [{ messages: [expect.objectContaining({ role: 'system' }), expect.objectContaining({ role: 'user' })] }],
    [expect.stringMatching(/^\d+ of 16000 tokens$/)],
  ])
})

test('its figures are those of `npm run demo`', async () => {
  const recording = readFileSync(join(root, 'examples/trip.jsonl'), 'utf8')
  const options = manifest.scripts.demo.replace(/^.*main\.js /, '').replace('examples/', '')
  const { out } = await plimsoll([...options.split(' '), '--json'], { 'trip.jsonl': recording })
  const { figures } = JSON.parse(out) as {
    figures: Readonly<Record<string, Readonly<Record<string, number>>>>
  }
  const policies = ['plimsoll', 'full', 'messages', 'tokens']
  const grouped = (name: string) =>
    policies.map((policy) => Math.round(figures[policy]?.[name] ?? Number.NaN).toLocaleString('en'))
  const percent = (name: string) =>
    policies.map((policy) => `${(100 * (figures[policy]?.[name] ?? Number.NaN)).toFixed(1)}%`)
  const rows = [...readme.matchAll(/^\| (.*) \|$/gm)].map(([, row = '']) =>
    row.replaceAll('**', '').split(' | '),
  )
  const said = (title: string) => rows.find(([first]) => first === title)?.slice(1)
  expect(said('most tokens a call')).toEqual(grouped('maxTokens'))
  expect(said('calls over the line')).toEqual(grouped('overCap'))
  expect(said('rules of the provider broken')).toEqual(grouped('lintErrors'))
  expect(said('share of the input that repeats the request before')).toEqual(percent('prefixShare'))
  expect(said('cost a call')).toEqual(grouped('costPerCall'))
  expect(said('names in the reply that the context still held')).toEqual(percent('retainedShare'))
})

/**
 * Every example of a docstring compiles where it says that it runs (in Workers with
 * `npm run test:cases`), and those that run in Node run, with the sources in the library's place.
 */
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { entries } from '../docstrings/entries.ts'
import { type Example, examplesIn, moduleOf, type Place } from '../docstrings/examples.ts'

const root = resolve(import.meta.dirname, '../..')
const node = join(root, 'node_modules/.bin/node')
const PLACES: readonly Place[] = ['node', 'online', 'browser', 'worker']
/** Pages and Node are one program, since most examples are for either. */
const PROGRAMS = {
  web: { places: PLACES.slice(0, 3), lib: ['ES2023', 'DOM', 'DOM.Iterable'], types: ['node'] },
  workers: { places: PLACES.slice(3), lib: ['ES2023'], types: ['@cloudflare/workers-types'] },
}

const examples = examplesIn(root)
/** In the project, so that its packages are found, and with what only tests have. */
let folder: string
let home: string
const fileOf = (example: Example): string =>
  join(folder, example.place, `${example.file.replace(/\W/g, '-')}-${example.line}.${example.ending}`)

function output(command: string, ...args: readonly string[]): string {
  try {
    return execFileSync(command, args, { cwd: home, encoding: 'utf8' })
  } catch (error) {
    return (error as { readonly stdout: string }).stdout
  }
}

beforeAll(() => {
  mkdirSync(join(root, 'dist'), { recursive: true })
  folder = mkdtempSync(join(root, 'dist/docstrings-'))
  home = mkdtempSync(join(tmpdir(), 'plimsoll-docstrings-'))
  for (const place of PLACES) mkdirSync(join(folder, place))
  const scope = join(root, 'test/docstrings/scope')
  for (const example of examples)
    writeFileSync(fileOf(example), moduleOf(example, relative(join(folder, example.place), scope)))
})
afterAll(() => {
  for (const one of [folder, home]) rmSync(one, { recursive: true, force: true })
})

describe('examples of docstrings', () => {
  // The edge and what it stands on take several seconds: with all random cases alone.
  const programs = (inject('fastCheckRuns') ?? 1) < 1 ? (['web'] as const) : (['web', 'workers'] as const)
  it.each(programs)('compile: %s', (program) => {
    const { places, lib, types } = PROGRAMS[program]
    for (const place of places)
      expect(examples.filter((one) => one.place === place).length).toBeGreaterThan(2)
    const files = examples.filter(({ place }) => places.includes(place)).map(fileOf)
    const paths = {
      ...Object.fromEntries(Object.entries(entries).map(([name, file]) => [name, [file]])),
      '@anthropic-ai/sdk': [join(root, 'test/node_modules/@anthropic-ai/sdk')],
      '@anthropic-ai/sdk/*': [join(root, 'test/node_modules/@anthropic-ai/sdk/*.d.ts')],
    }
    const compilerOptions = {
      ...{ target: 'ES2022', module: 'preserve', moduleResolution: 'bundler', jsx: 'react-jsx' },
      ...{ strict: true, skipLibCheck: true, noEmit: true, allowImportingTsExtensions: true },
      ...{ exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true },
      ...{ paths, lib, types },
    }
    const config = join(folder, `tsconfig.${program}.json`)
    writeFileSync(config, JSON.stringify({ compilerOptions, files }))
    const said = output(
      node,
      join(root, 'node_modules/typescript/bin/tsc'),
      '-p',
      config,
      '--pretty',
      'false',
    )
    // The sources have been compiled for each platform of theirs.
    expect(said.split('\n').filter((line) => line.includes('docstrings'))).toEqual([])
  })

  it('run, those that are for Node', () => {
    const runnable = examples.filter(({ place, ending }) => place === 'node' && ending === 'ts')
    const lines = output(node, '--no-warnings', join(root, 'test/docstrings/run.ts'), ...runnable.map(fileOf))
    const told = lines
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { file: string; failure?: string })
    expect(told.filter(({ failure }) => failure !== undefined)).toEqual([])
    expect(told.map(({ file }) => file)).toEqual(runnable.map(fileOf))
  })
})

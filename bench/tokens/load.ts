import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { runChild } from '../child.ts'
import { median, round } from '../stats.ts'
import { DEFAULT, IN_WORKER, type LibraryName, OURS } from './libraries.ts'
import type { Load } from './load-cell.ts'

export interface LoadRow extends Partial<Load> {
  readonly what: string
  readonly note?: string
}

const WAYS: readonly (LibraryName | typeof IN_WORKER)[] = [
  OURS,
  IN_WORKER,
  DEFAULT,
  'gpt-tokenizer',
  'js-tiktoken',
  'tiktoken',
  'tokenx',
]

const LIMIT_MS = 30_000

/** Medians over so many processes of each, in turns. */
export async function measureLoad(processes: number, progress: (line: string) => void): Promise<LoadRow[]> {
  const folder = await compileOurs()
  const loads = WAYS.map((): Load[] => [])
  const notes = new Map<string, string>()
  for (let lap = 0; lap < processes; lap++) {
    progress(`load: ${lap + 1} of ${processes}`)
    for (const [index, what] of WAYS.entries()) {
      const options = { limitMs: LIMIT_MS, execArgv: ['--expose-gc'] }
      const { messages, stopped } = await runChild<Load>('tokens/load-cell.ts', [what, folder], options)
      loads[index]?.push(...messages)
      if (stopped) notes.set(what, stopped)
    }
  }
  return WAYS.map((what, index) => {
    const note = notes.get(what)
    return { what, ...medians(loads[index] ?? []), ...(note && { note }) }
  })
}

/**
 * Ours as JavaScript, as it is published: Node takes longer to strip the types than to load the
 * rest.
 */
async function compileOurs(): Promise<string> {
  const pathOf = (path: string) => fileURLToPath(new URL(path, import.meta.url))
  const outdir = pathOf('../node_modules/.cache/plimsoll-tokens')
  await build({
    entryPoints: {
      o200k: pathOf('../../src/counters/o200k.ts'),
      default: pathOf('../../src/counters/default.ts'),
      worker: pathOf('load-worker.ts'),
    },
    bundle: true,
    format: 'esm',
    platform: 'node',
    packages: 'external',
    outExtension: { '.js': '.mjs' },
    outdir,
    logLevel: 'error',
  })
  return outdir
}

function medians(loads: readonly Load[]): Partial<Load> {
  const [first] = loads
  if (!first) return {}
  const keys = Object.keys(first) as (keyof Load)[]
  return Object.fromEntries(keys.map((key) => [key, round(median(loads.map((load) => load[key])))]))
}

/**
 * What a browser downloads for the part of each library that keeps a context: bundled, minified,
 * compressed by gzip -9, in one run.
 */
import { builtinModules } from 'node:module'
import { BUDGETS } from '../test/sizes/budgets.ts'
import type { BenchOptions, BenchReport } from './bench.ts'
import { type Bundle, bundle, type Program } from './bundle.ts'
import { type Machine, machine, machineLine } from './machine.ts'
import { type Picture, plotBars } from './picture/bars.ts'
import { type Goal, goalTable, table } from './table.ts'
import { viteKiB } from './vite.ts'

interface Entry extends Program {
  readonly mostKiB?: number
  readonly goalKiB?: number
}

interface Size extends Bundle {
  readonly name: string
  /** The same by Vite, of what runs by itself. */
  readonly viteKiB?: number
  readonly mostKiB?: number
  readonly goalKiB?: number
}

const NODE = ['node:*', ...builtinModules]

const ENTRIES: readonly Entry[] = [
  ...BUDGETS,
  { name: 'plimsoll, everything in it', code: `export * from 'plimsoll'` },
  {
    name: 'plimsoll/dexie, without Dexie',
    code: `export { dexieStore } from 'plimsoll/dexie'`,
    external: ['dexie'],
    splits: true,
  },
  {
    name: 'plimsoll/encrypted',
    code: `export { encryptedStore, passphraseKeys } from 'plimsoll/encrypted'`,
  },
  {
    name: 'plimsoll/react, without React',
    code: `export * from 'plimsoll/react'`,
    external: ['react'],
  },
  { name: 'plimsoll/vue, without Vue', code: `export * from 'plimsoll/vue'`, external: ['vue'] },
  {
    name: 'plimsoll/durable-object, without the core',
    code: `export { durableObjectStore } from 'plimsoll/durable-object'`,
  },
  {
    name: 'plimsoll durableObjectMemory, hono/tiny',
    code: `export { durableObjectMemory } from 'plimsoll/durable-object'; export { Hono } from 'hono/tiny'`,
  },
  {
    name: 'agents/sessions Sessions, agents/lifecycle Lifecycle',
    code: `export { Sessions } from 'agents/sessions'; export { Lifecycle } from 'agents/lifecycle'`,
    external: ['cloudflare:*', ...NODE],
  },
  { name: 'ai pruneMessages', code: `export { pruneMessages } from 'ai'` },
  {
    name: '@openai/agents-core MemorySession',
    code: `export { MemorySession } from '@openai/agents-core'`,
  },
  {
    name: '@langchain/core messages, trimMessages',
    code: `export { AIMessage, HumanMessage, SystemMessage, ToolMessage, trimMessages } from '@langchain/core/messages'`,
  },
  {
    name: '@mastra/core TokenLimiterProcessor',
    code: `export { TokenLimiterProcessor } from '@mastra/core/processors'`,
    external: NODE,
  },
]

const PACKAGES = [
  '@langchain/core',
  'ai',
  '@mastra/core',
  '@openai/agents-core',
  'agents',
  'hono',
  'dexie',
  'esbuild',
]

export async function bench({ progress }: BenchOptions): Promise<BenchReport> {
  const sizes: Size[] = []
  for (const entry of ENTRIES) {
    progress(entry.name)
    sizes.push(await measure(entry))
  }
  const goals = sizes.flatMap(({ name, gzipKiB, mostKiB, goalKiB = mostKiB }): Goal[] => {
    if (goalKiB === undefined) return []
    const measured = `${gzipKiB} KiB`
    return [{ goal: `${name} <= ${goalKiB} KiB`, measured, holds: gzipKiB <= goalKiB }]
  })
  const report = { bench: 'size', machine: machine(PACKAGES), unit: 'KiB, gzip -9', sizes, goals }
  return { json: report, text: text(report), plots: [plotOf(sizes)] }
}

function plotOf(sizes: readonly Size[]): Picture {
  const title = 'What a browser downloads at first, minified and gzip'
  const bars = sizes.map(({ name, gzipKiB }) => ({
    name,
    value: gzipKiB,
    isOurs: name.startsWith('plimsoll'),
  }))
  return plotBars('size.svg', { title, unit: 'KiB', bars })
}

async function measure({ mostKiB, goalKiB, ...program }: Entry): Promise<Size> {
  const bundled = await bundle(program)
  const isOurs = mostKiB !== undefined && !program.beside && !program.from
  return {
    name: program.name,
    ...bundled,
    ...(isOurs && { viteKiB: await viteKiB(program.code) }),
    ...(mostKiB !== undefined && { mostKiB }),
    ...(goalKiB !== undefined && { goalKiB }),
  }
}

function text(report: { machine: Machine; sizes: readonly Size[]; goals: readonly Goal[] }): string {
  const head = ['', 'gzip KiB', 'by Vite', 'on demand', 'minified KiB', 'budget', 'left outside']
  const lines = report.sizes.map(
    ({ name, gzipKiB, viteKiB, onDemandKiB, minifiedKiB, mostKiB, external }) => [
      name,
      gzipKiB.toFixed(1),
      viteKiB?.toFixed(1) ?? '',
      onDemandKiB === 0 ? '' : onDemandKiB.toFixed(1),
      minifiedKiB.toFixed(1),
      mostKiB === undefined ? '' : `<= ${mostKiB}`,
      external.length > 4
        ? `${external.length} modules: ${external.slice(0, 3).join(' ')} ...`
        : external.join(' '),
    ],
  )
  return [
    machineLine(report.machine),
    `esbuild --bundle --minify --format=esm --platform=browser\n${table([head, ...lines])}`,
    `Goals\n${goalTable(report.goals)}`,
  ].join('\n')
}

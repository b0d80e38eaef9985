/** Runs tests, one at a time, with one mutant on. Started by `run.ts`, which also ends it. */
import './hooks.ts'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import fc from 'fast-check'
import { root } from './suites.ts'
import type { Test } from './vitest.ts'

export interface Request {
  readonly file: string
  /** Its place in the file; undefined: only names are asked for. */
  readonly test?: number
  /** 0: none. */
  readonly mutant: number
}

export interface Answer {
  readonly names?: readonly string[]
  readonly error?: string
  /** Time of the processor, whatever else the machine does. */
  readonly ms: number
  /** Mutants that were reached. */
  readonly reached: readonly number[]
}

let on = Number(process.env.MUTANT ?? 0)
const isLearning = process.env.LEARN === '1'
let reached = new Set<number>()

Object.assign(globalThis, {
  __mutation: {
    is: isLearning
      ? (id: number) => {
          reached.add(id)
          return false
        }
      : (id: number) => id === on,
  },
})
// One case that fails is enough.
fc.configureGlobal({ endOnFailure: true })
process.on('unhandledRejection', () => {})
process.on('uncaughtException', () => {})

const files = new Map<string, Promise<readonly Test[]>>()

async function testsOf(file: string): Promise<readonly Test[]> {
  const { collect } = (await import('vitest')) as unknown as typeof import('./vitest.ts')
  const load = () => import(pathToFileURL(join(root, file)).href)
  const known = files.get(file) ?? collect(load)
  files.set(file, known)
  return await known
}

async function answer({ file, test, mutant }: Request): Promise<Answer> {
  on = mutant
  reached = new Set()
  let started = process.cpuUsage()
  const ms = (): number => {
    const { user, system } = process.cpuUsage(started)
    return (user + system) / 1_000
  }
  try {
    const tests = await testsOf(file)
    if (test === undefined) return { names: tests.map(({ name }) => name), ms: 0, reached: [...reached] }
    started = process.cpuUsage()
    await tests[test]?.run()
    return { ms: ms(), reached: [...reached] }
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error)
    return { error: text || 'failed', ms: ms(), reached: [...reached] }
  }
}

process.on('message', async (request: Request) => {
  process.send?.(await answer(request))
})

import { invalid, isPlainObject } from '../ports/options.ts'
import type { LogStart } from '../ports/sync.ts'
import { misfit } from './rebase.ts'

/**
 * Checks what a home says that its log comes to at a seq.
 *
 * @param waiting what it was asked about: see `PullRequest.waiting`
 * @throws ERR_INVALID_ARGUMENT: it is no answer of a home. ERR_STORAGE: it says that something
 * arrived that it was not asked about
 */
export function checkStart(start: LogStart, waiting: readonly string[] = []): void {
  if (!isStart(start)) throw invalid('sync', 'answer', 'is none of a home')
  const other = start.arrived.find((opId) => !waiting.includes(opId))
  if (other !== undefined) throw misfit(`it was not asked whether ${other} arrived`)
}

function isStart(value: unknown): boolean {
  if (!isRow(value, [], ['ordinal'])) return false
  const { first = '', registers, marks, arrived } = value
  return (
    typeof first === 'string' &&
    isListOf(registers, (row) => isRow(row, ['key', 'version'], ['seq']) && isBody(row.body)) &&
    isListOf(marks, (row) => isRow(row, ['slot', 'id'], ['seq', 'chain'])) &&
    isListOf(arrived, (opId) => typeof opId === 'string')
  )
}

function isRow(
  value: unknown,
  texts: readonly string[],
  counts: readonly string[],
): value is Record<string, unknown> {
  return (
    isPlainObject(value) &&
    texts.every((name) => typeof value[name] === 'string') &&
    counts.every((name) => Number.isSafeInteger(value[name]))
  )
}

function isBody(value: unknown): boolean {
  return value === null || typeof value === 'string'
}

function isListOf(value: unknown, isOne: (one: unknown) => boolean): boolean {
  return Array.isArray(value) && value.every(isOne)
}

/** Compares what two builds made of one history. */
import type { Command } from './commands.ts'
import { type WantedDifference, wanted } from './differences.ts'
import { field, isObject, type Json, listIn } from './json.ts'
import type { Result, Step } from './play.ts'
import { lanesOf, PROJECTIONS, type Projection, project } from './project.ts'

/** A place at which two results are not the same. A value that is not there is undefined. */
export interface Difference {
  readonly projection: Projection
  /** Place of the command in the history. */
  readonly step: number
  readonly command: Command
  /** Where in what came of it. */
  readonly path: readonly (string | number)[]
  readonly old: Json | undefined
  readonly new: Json | undefined
  /** All that came of the command. */
  readonly was: Json
  readonly is: Json
}

/** What of a value stands at a path. */
export function at(value: Json | undefined, path: Difference['path']): Json | undefined {
  return path.reduce<Json | undefined>(
    (inner, key) => (typeof key === 'number' ? listIn(inner)[key] : field(inner, key)),
    value,
  )
}

export interface Compared {
  /** The first difference that nobody wants, in the order of projections, then steps. */
  readonly difference?: Difference
  /** The step from which on the two go different ways, as is wanted: the rest was not compared. */
  readonly until?: number
}

export function compared(
  first: Result,
  second: Result,
  list: readonly WantedDifference[] = wanted,
): Compared {
  if (sameSteps(first.steps, second.steps)) return {}
  const differences = [...differencesBetween(first, second)]
  const lasting = list.filter(({ isLasting }) => isLasting)
  const isWanted = (some: readonly WantedDifference[], difference: Difference): boolean =>
    some.some((one) => one.holds(difference, { first, second }))
  const until = differences.reduce(
    (least, difference) =>
      difference.step < least && isWanted(lasting, difference) ? difference.step : least,
    Number.POSITIVE_INFINITY,
  )
  const difference = differences.find((one) => one.step < until && !isWanted(list, one))
  return { ...(difference && { difference }), ...(Number.isFinite(until) && { until }) }
}

/** Mostly nothing is different, made names included. */
function sameSteps(one: readonly Step[], other: readonly Step[]): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}

/**
 * All differences. Where two lists are not equally long, that is one, after those of their items.
 */
export function* differencesBetween(first: Result, second: Result): Generator<Difference> {
  const isSameLane = JSON.stringify(lanesOf(first)) === JSON.stringify(lanesOf(second))
  for (const projection of PROJECTIONS) {
    const [before, after] = [first, second].map((result) => project(result, projection, isSameLane))
    for (const [step, { command }] of first.steps.entries()) {
      const [was, is] = [before?.[step] ?? null, after?.[step] ?? null]
      for (const parting of partings(was, is, [])) yield { projection, step, command, ...parting, was, is }
    }
  }
}

type Parting = Pick<Difference, 'path' | 'old' | 'new'>

function* partings(
  one: Json | undefined,
  other: Json | undefined,
  path: Difference['path'],
): Generator<Parting> {
  if (Array.isArray(one) && Array.isArray(other)) {
    const common = Math.min(one.length, other.length)
    for (let at = 0; at < common; at++) yield* partings(one[at] as Json, other[at] as Json, [...path, at])
    if (one.length !== other.length) yield { path: [...path, 'length'], old: one.length, new: other.length }
    return
  }
  if (isObject(one) && isObject(other)) {
    for (const name of new Set([...Object.keys(one), ...Object.keys(other)]))
      yield* partings(one[name], other[name], [...path, name])
    return
  }
  if (JSON.stringify(one) !== JSON.stringify(other)) yield { path, old: one, new: other }
}

/** A difference in a line or two. */
export function told(difference: Difference): string {
  const { projection, step, command, path, old } = difference
  const where = path.map((key) => (typeof key === 'number' ? `[${key}]` : `.${key}`)).join('')
  const whose = 'tab' in command ? ` of tab ${command.tab}` : ''
  const [before, after] = excerpts(old, difference.new)
  return `step ${step}, ${command.kind}${whose} (${projection}): ${where.slice(1)}\n  was ${before}\n  is  ${after}`
}

/** Two values, of long ones what stands around the place where they part. */
function excerpts(one: Json | undefined, other: Json | undefined): readonly [string, string] {
  const [before = 'nothing', after = 'nothing'] = [JSON.stringify(one), JSON.stringify(other)]
  let at = 0
  while (at < before.length && before[at] === after[at]) at++
  const from = Math.max(0, at - 60)
  const excerpt = (text: string): string =>
    `${from > 0 ? '…' : ''}${text.slice(from, from + 200)}${text.length > from + 200 ? '…' : ''}`
  return [excerpt(before), excerpt(after)]
}

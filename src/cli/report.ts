import { POLICIES, type PolicyName } from '../replay/policy.ts'
import type { Tallies } from '../replay/replay.ts'
import { grouped } from '../replay/words.ts'
import type { ReplayOptions } from './arguments.ts'
import { type Drawn, drawBars, LEGEND, shortenName, sparkline } from './draw.ts'
import type { Io } from './io.ts'
import { drawTable, type FiguresByPolicy } from './table.ts'

/** More conversations than this are drawn as one sparkline each. */
const MOST_BARS = 3
const MOST_REFUSALS = 20
const NAME = 40
const SPARKLINE = 60

export interface Replayed {
  readonly conversation: string
  readonly calls: readonly Drawn[]
}

export interface Report {
  readonly version: string
  readonly options: ReplayOptions
  /** Id of the counter that was used. */
  readonly counter: string
  readonly conversations: readonly Replayed[]
  readonly figures: FiguresByPolicy
  /** Lines that could not be read. */
  readonly malformed: readonly { readonly file: string; readonly line: number; readonly reason: string }[]
}

export function figuresOf(tallies: Tallies): FiguresByPolicy {
  return Object.fromEntries(
    POLICIES.map((name) => [name, tallies[name].figures()]),
  ) as unknown as FiguresByPolicy
}

export function reportJson({ conversations, options, ...report }: Report): string {
  const { command: _, ...settings } = options
  return `${JSON.stringify({ ...report, options: settings, conversations: conversations.length, refusals: refusals(conversations) })}\n`
}

/** What was replayed with, in one line. */
function settingsText({ options, counter }: Pick<Report, 'options' | 'counter'>): string {
  const { budget, policy, tail, rounds, keep, floor, compact, ask } = options
  const more = Object.entries({ tail, rounds, keep, floor }).map(([name, value]) =>
    value ? `, ${name} ${value}` : '',
  )
  return `${policy}, line at ${grouped(budget)} tokens, counted by ${counter}${more.join('')}${compact ? ', compact' : ''}${ask ? `, ask ${ask}` : ''}`
}

export function reportText({ conversations, options, counter, figures }: Report, io: Io): string {
  const { budget: cap, policy } = options
  const canvas = {
    columns: io.columns.out ?? 120,
    colour: io.columns.out !== undefined && !io.env.NO_COLOR,
  }
  const refused = refusals(conversations)
  return [
    `${settingsText({ options, counter })}\n`,
    conversations.length > MOST_BARS
      ? sparklines(conversations, cap)
      : conversations.map((one) => `\n${one.conversation}\n${drawBars(one.calls, cap, canvas)}`).join(''),
    conversations.length > MOST_BARS ? '' : `${LEGEND}\n`,
    `\n${drawTable(figures, policy)}`,
    refused.length === 0 ? '' : `\n${listRefusals(refused, cap, policy)}`,
  ].join('')
}

function sparklines(conversations: readonly Replayed[], cap: number): string {
  const width = Math.min(NAME, Math.max(...conversations.map(({ conversation }) => conversation.length)))
  const lines = conversations.map(({ conversation, calls }) => {
    const count = String(calls.length).padStart(5)
    return `${shortenName(conversation, width).padEnd(width)} ${count} calls ${sparkline(calls, cap, SPARKLINE)}\n`
  })
  return `\n${lines.join('')}one mark a call or a few, full height at the line; ! over it; × refused\n`
}

export interface ListedRefusal {
  readonly conversation: string
  readonly call: number
  readonly reason: string
  readonly floor: number | null
}

function refusals(conversations: readonly Replayed[]): readonly ListedRefusal[] {
  return conversations.flatMap(({ conversation, calls }) =>
    calls.flatMap(({ call, outcome }) =>
      'reason' in outcome
        ? [{ conversation, call, reason: outcome.reason, floor: outcome.floor ?? null }]
        : [],
    ),
  )
}

function listRefusals(refused: readonly ListedRefusal[], cap: number, policy: PolicyName): string {
  const lines = refused.slice(0, MOST_REFUSALS).map((refusal) => `  ${refusalText(refusal, cap)}\n`)
  const rest = refused.length - lines.length
  if (rest > 0) lines.push(`  … and ${grouped(rest)} more (--json lists them all)\n`)
  return `refused calls of ${policy}: ${grouped(refused.length)}\n${lines.join('')}`
}

/** Which call was refused, with its floor where it has one, and why. */
export function refusalText({ conversation, call, reason, floor }: ListedRefusal, cap: number): string {
  const least = floor === null ? '' : `floor ${grouped(floor)} > ${grouped(cap)} `
  return `${conversation}#${call} ${least}(${reason})`
}

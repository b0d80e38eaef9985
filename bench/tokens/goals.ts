import type { Goal } from '../table.ts'
import type { Accuracy, Adversity } from './accuracy.ts'
import { type Exactness, TRANSCRIPTS } from './exactness.ts'
import type { Beside, Growth } from './growth.ts'
import { DEFAULT, OURS } from './libraries.ts'
import { DEFAULT_SIZE, type Size } from './sizes.ts'
import { COUNT, FRESH, type Speed, TOKENX } from './throughput.ts'
import { sizeText } from './units.ts'

export interface Measured {
  readonly speeds: readonly Speed[]
  readonly exactness: readonly Exactness[]
  readonly growth: readonly Growth[]
  readonly beside: Beside
  readonly accuracy: readonly Accuracy[]
  readonly adversity: readonly Adversity[]
  readonly sizes: readonly Size[]
}

const LEAST_OF_GPT_TOKENIZER = 1.1
const LEAST_OF_TOKENX = 3
const MOST_GROWTH = 1.15
const LARGEST = 1_048_576
const MOST_AT_LARGEST_MS = 2_000
const BESIDE_AT = 131_072
const LEAST_BESIDE = 50
const MOST_UNDER_PERCENT = 10
const MOST_OVER_PERCENT = 25
const LEAST_TOTAL = 0.92
const MOST_TOTAL = 1.08
const LEAST_ADVERSE = 0.98
const MOST_DEFAULT_KIB = 2

export function goals(measured: Measured): Goal[] {
  return [
    ...faster(measured.speeds, COUNT, FRESH, LEAST_OF_GPT_TOKENIZER),
    ...faster(measured.speeds, DEFAULT, TOKENX, LEAST_OF_TOKENX),
    ...exact(measured.exactness),
    ...flat(measured.growth),
    beside(measured.beside),
    ...accurate(measured.accuracy.filter(({ counter }) => counter === DEFAULT)),
    adverse(measured.adversity.filter(({ counter }) => counter === DEFAULT)),
    small(measured.sizes),
  ]
}

function faster(speeds: readonly Speed[], one: string, other: string, least: number): Goal[] {
  const ours = speeds.filter(({ subject }) => subject === one)
  return ours.map(({ corpus, megabytes }) => {
    const theirs = speeds.find((speed) => speed.subject === other && speed.corpus === corpus)
    const ratio = megabytes / (theirs?.megabytes ?? Number.NaN)
    const goal = `${one} >= ${least} x ${other}: ${corpus}`
    return { goal, measured: `${ratio.toFixed(2)} x`, holds: ratio >= least }
  })
}

function exact(exactness: readonly Exactness[]): Goal[] {
  const goal = (source: string) => `encodings unlike gpt-tokenizer's: 0: ${source}`
  const found = exactness.map(({ source, texts, mismatches, leftOut }): Goal => {
    const measured = `${mismatches} of ${texts - leftOut}${leftOut > 0 ? `, ${leftOut} left out` : ''}`
    return { goal: goal(source), measured, holds: mismatches === 0 }
  })
  if (exactness.some(({ source }) => source === TRANSCRIPTS)) return found
  return [...found, { goal: goal(TRANSCRIPTS), measured: 'no --data DIR', holds: undefined }]
}

function flat(growth: readonly Growth[]): Goal[] {
  const ours = growth.filter(({ library }) => library === OURS)
  const steepest = ours.reduce((most, row) => ((row.exponent ?? 0) > (most.exponent ?? 0) ? row : most))
  const untold = ours.filter(({ exponent }) => exponent === undefined).map(({ family }) => family)
  const largest = Math.max(...ours.flatMap(({ times }) => times.map(({ size }) => size)))
  const last = ours.map(({ family, times }) => {
    const ms = times.find(({ size }) => size === LARGEST)?.ms ?? Number.POSITIVE_INFINITY
    return { family, ms }
  })
  const slowest = last.reduce((most, row) => (row.ms > most.ms ? row : most))
  const reached = largest >= LARGEST
  return [
    {
      goal: `growth exponent of ${OURS} up to ${sizeText(largest)} <= ${MOST_GROWTH} on every family`,
      measured: `${steepest.exponent} on ${steepest.family}${untold.map((family) => `, none on ${family}`).join('')}`,
      holds: reached ? untold.length === 0 && (steepest.exponent ?? 0) <= MOST_GROWTH : undefined,
    },
    {
      goal: `${OURS} at ${sizeText(LARGEST)} <= ${MOST_AT_LARGEST_MS / 1_000} s on every family`,
      measured: reached ? `${Math.round(slowest.ms)} ms on ${slowest.family}` : '',
      holds: reached ? slowest.ms <= MOST_AT_LARGEST_MS : undefined,
    },
  ]
}

function beside({ family, size, oursMs, theirsMs }: Beside): Goal {
  const ratio = (theirsMs ?? Number.NaN) / (oursMs ?? Number.NaN)
  return {
    goal: `${OURS} >= ${LEAST_BESIDE} x gpt-tokenizer at ${sizeText(BESIDE_AT)} of '${family}'`,
    measured: `${ratio.toFixed(0)} x at ${sizeText(size)}`,
    holds: size === BESIDE_AT ? ratio >= LEAST_BESIDE : undefined,
  }
}

function accurate(accuracy: readonly Accuracy[]): Goal[] {
  const each = (text: (row: Accuracy) => string) =>
    accuracy.map((row) => `${row.corpus} ${text(row)}`).join(', ')
  return [
    {
      goal: `${DEFAULT}, 99 of 100 messages: at most ${MOST_UNDER_PERCENT} % too few`,
      measured: each(({ p1 }) => `${p1} %`),
      holds: accuracy.every(({ p1 }) => p1 >= -MOST_UNDER_PERCENT),
    },
    {
      goal: `${DEFAULT}, 99 of 100 messages: at most ${MOST_OVER_PERCENT} % too many`,
      measured: each(({ p99 }) => `${p99} %`),
      holds: accuracy.every(({ p99 }) => p99 <= MOST_OVER_PERCENT),
    },
    {
      goal: `${DEFAULT}, all messages together: from ${LEAST_TOTAL} to ${MOST_TOTAL} x`,
      measured: each(({ total }) => `${total} x`),
      holds: accuracy.every(({ total }) => total >= LEAST_TOTAL && total <= MOST_TOTAL),
    },
  ]
}

function adverse(adversity: readonly Adversity[]): Goal {
  const worst = adversity.reduce((least, row) => (row.least < least.least ? row : least))
  return {
    goal: `${DEFAULT} >= ${LEAST_ADVERSE} x exact on every adversarial family`,
    measured: `${worst.least} x on ${worst.family}, ${sizeText(worst.leastAt)}`,
    holds: worst.least >= LEAST_ADVERSE,
  }
}

function small(sizes: readonly Size[]): Goal {
  const gzipKiB = sizes.find(({ name }) => name === DEFAULT_SIZE)?.gzipKiB ?? Number.NaN
  const goal = `${DEFAULT} <= ${MOST_DEFAULT_KIB} KiB`
  return { goal, measured: `${gzipKiB} KiB`, holds: gzipKiB <= MOST_DEFAULT_KIB }
}

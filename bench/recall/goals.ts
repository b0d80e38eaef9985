import type { Goal } from '../table.ts'
import { DEFAULT, OURS } from './engines.ts'
import { ALL_FILES, AMID, type Found } from './known-items.ts'
import type { Quality, Scope } from './quality.ts'
import { ENGINE_SIZE, type Size } from './sizes.ts'
import type { Speed } from './speed.ts'
import type { StoresReport } from './stores.ts'

export interface Measured {
  readonly quality: readonly Quality[]
  readonly knownItems: readonly Found[]
  readonly speed: readonly Speed[]
  readonly stores: StoresReport
  readonly sizes: readonly Size[]
}

const LEAST = { b700: 79, b2000: 88 }
const AIM = { b700: 86, b2000: 92 }
const MOST_LOST = 2
const LEAST_FASTER = 2.5
const MOST_OF_HEAP = 0.5
const MOST_OF_QUERY = 0.5
const MOST_P95_MS = 10
const MOST_OF_APPEND = 1.1
const MOST_KIB = 3
/** The size at which times and memory are promised. */
const MESSAGES = 10_000

export function goals({ quality, knownItems, speed, stores, sizes }: Measured, messages: number): Goal[] {
  return [
    ...finds(quality),
    ...pooled(quality),
    ...noLoss(knownItems),
    ...fast(speed).map((goal) => (messages === MESSAGES ? goal : { ...goal, holds: undefined })),
    ...overStores(stores),
    small(sizes),
  ]
}

function finds(quality: readonly Quality[]): Goal[] {
  const { b700, b2000 } = allOf(quality, 'its conversation')
  return [LEAST, AIM].flatMap((goal): Goal[] => [
    { goal: `${OURS} B700 >= ${goal.b700}`, measured: `${b700}`, holds: b700 >= goal.b700 },
    { goal: `${OURS} B2000 >= ${goal.b2000}`, measured: `${b2000}`, holds: b2000 >= goal.b2000 },
  ])
}

function pooled(quality: readonly Quality[]): Goal[] {
  const alone = allOf(quality, 'its conversation')
  return (['one index of all', 'all indexes'] as const).map((scope) => {
    const found = allOf(quality, scope)
    const lost = [alone.b700 - found.b700, alone.b2000 - found.b2000].map((points) =>
      Number(points.toFixed(1)),
    )
    return {
      goal: `${OURS}, ${scope}: B700 and B2000 within ${MOST_LOST} points`,
      measured: lost.map((points) => (-points).toFixed(1)).join(' / '),
      holds: lost.every((points) => points <= MOST_LOST),
    }
  })
}

function allOf(quality: readonly Quality[], scope: Scope): { b700: number; b2000: number } {
  const found = quality.find((one) => one.system === OURS && one.scope === scope)
  return found?.scores.all ?? { b700: Number.NaN, b2000: Number.NaN }
}

function noLoss(knownItems: readonly Found[]): Goal[] {
  const all = knownItems.filter(({ file, kind }) => file === ALL_FILES && kind !== AMID)
  return all.flatMap((theirs): Goal[] => {
    const { scope, kind } = theirs
    const ours = all.find((found) => found.system === OURS && found.scope === scope && found.kind === kind)
    if (theirs.system !== DEFAULT || !ours) return []
    const gains = [ours.r1 - theirs.r1, ours.r10 - theirs.r10, ours.mrr - theirs.mrr]
    return [
      {
        goal: `known items by ${kind} in ${scope}: recall@1, @10, MRR no less than ${DEFAULT}'s`,
        measured: gains.map((gain) => `${gain < 0 ? '' : '+'}${gain.toFixed(1)}`).join(' / '),
        holds: gains.every((gain) => gain > -0.05),
      },
    ]
  })
}

function fast(speed: readonly Speed[]): Goal[] {
  const ours = speed.find(({ system }) => system === OURS)
  const theirs = speed.find(({ system }) => system === DEFAULT)
  const ratio = (of: Speed | undefined, to: Speed | undefined, pick: (row: Speed) => number | undefined) =>
    ((of && pick(of)) ?? Number.NaN) / ((to && pick(to)) ?? Number.NaN)
  const faster = (what: string, pick: (row: Speed) => number | undefined): Goal => {
    const times = ratio(theirs, ours, pick)
    return {
      goal: `${what} >= ${LEAST_FASTER} x ${DEFAULT}`,
      measured: `${times.toFixed(2)} x`,
      holds: times >= LEAST_FASTER,
    }
  }
  const atMost = (what: string, most: number, pick: (row: Speed) => number | undefined): Goal => {
    const share = ratio(ours, theirs, pick)
    return {
      goal: `${what} <= ${most} x ${DEFAULT}'s`,
      measured: `${share.toFixed(2)} x`,
      holds: share <= most,
    }
  }
  return [
    faster('indexing, first of a process,', ({ firstMs }) => firstMs),
    faster('indexing, later', ({ indexMs }) => indexMs),
    faster('adding one', ({ addMs }) => addMs),
    atMost('heap', MOST_OF_HEAP, ({ heapMiB }) => heapMiB),
    atMost('three rarest words, p50', MOST_OF_QUERY, ({ rareWords }) => rareWords?.p50),
    atMost('three words, p50', MOST_OF_QUERY, ({ words }) => words?.p50),
    atMost('question, p50', MOST_OF_QUERY, ({ questions }) => questions?.p50),
    prompt(ours?.questions?.p95 ?? Number.NaN),
  ]
}

function prompt(p95: number): Goal {
  return { goal: `question, p95 <= ${MOST_P95_MS} ms`, measured: `${p95} ms`, holds: p95 <= MOST_P95_MS }
}

function small(sizes: readonly Size[]): Goal {
  const gzipKiB = sizes.find(({ name }) => name === ENGINE_SIZE)?.gzipKiB ?? Number.NaN
  return { goal: `${ENGINE_SIZE} <= ${MOST_KIB} KiB`, measured: `${gzipKiB} KiB`, holds: gzipKiB <= MOST_KIB }
}

function overStores({ same, appends }: StoresReport): Goal[] {
  return [
    ...same.map(({ place, questions, same }) => ({
      goal: `${place}: session.recall ranks as the engine does`,
      measured: `${same} of ${questions}`,
      holds: same === questions,
    })),
    ...appends
      .filter(({ counts }) => counts)
      .map(({ place, what, ratio }) => ({
        goal: `${place}: append of ${what} with recall <= ${MOST_OF_APPEND} x without`,
        measured: `${ratio} x`,
        holds: ratio <= MOST_OF_APPEND,
      })),
  ]
}

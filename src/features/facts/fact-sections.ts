import type { Hash, HeadPart, Rung, TailPart } from '../../kernel/feature.ts'
import { defined } from '../../ports/defined.ts'
import type { Json, Trust } from '../../ports/message.ts'
import { Filling } from '../filling.ts'
import { PLACES } from '../places.ts'
import { labelOf } from '../reference.ts'
import { oneLine } from '../text/one-line.ts'
import { titled } from '../text/titled.ts'
import { lowestTrust } from '../trust.ts'
import { DOUBTFUL } from './fact-index.ts'
import { inOrder, type Known, type KnownFact, nameOf } from './known-facts.ts'

/**
 * Facts that a head shows at most: fewer than are read, so that a few new ones put none of them out
 * of sight, which would end the epoch.
 */
const MOST = { pinned: 64, facts: 128 } as const

/** Most tokens that facts take in a context. */
export interface FactSizes {
  readonly pinned: number
  readonly others: number
  readonly news: number
}

/** What a head's part keeps of the facts that show in it. */
interface FactRecord {
  /** Whose facts may be among them, beside those of no project. */
  readonly project?: string
  /** Each with a hash of how it shows. */
  readonly facts: readonly (readonly [name: string, hash: string])[]
  /** Seq of each scope's newest fact that was known. */
  readonly asOf: Known['asOf']
}

/**
 * Fills the sections of a head, each in strict order up to the first item that does not fit.
 * Nothing, where nothing is known.
 */
export function headPart(
  { project, pinned, shown: facts, totals, asOf }: Known,
  sizes: FactSizes,
  {
    count,
    rung,
    hash,
  }: { readonly count: (text: string) => number; readonly rung: Rung; readonly hash: Hash },
): HeadPart | undefined {
  if (pinned.length === 0 && facts.length === 0) return undefined
  const pins = new Filling('pins', rung === 2 ? 0 : sizes.pinned, count)
  const others = new Filling('facts', rung === 0 ? sizes.others : 0, count)
  const moved: KnownFact[] = []
  for (const [at, one] of pinned.entries()) {
    const isOffered = at < MOST.pinned
    if (isOffered && pins.fits(pinLine(one))) continue
    // A pin without room among the pins is still a fact, and goes before the others.
    if (isOffered && others.fits(factLine(one))) moved.push(one)
    else pins.leave(one.fact.id, pinLine(one))
  }
  for (const [at, one] of facts.entries()) others.take(one.fact.id, factLine(one), at < MOST.facts)
  const shownFacts = [...moved, ...facts.slice(0, others.items - moved.length)]
  const shown = [...pinned.slice(0, pins.items), ...shownFacts]
  const record: FactRecord = defined({ project, facts: shown.map((one) => hashed(one, hash)), asOf })
  return {
    sections: [
      ...pins.section(
        { in: 'system', at: PLACES.pins, text: `## Pinned\n\n${pins.lines.join('\n')}`, trust: 'user' },
        totals.pinned.count - moved.length,
        totals.pinned.weight,
      ),
      ...others.section(
        { in: 'memory', at: PLACES.facts, text: others.lines.join('\n'), trust: trustOf(shownFacts) },
        totals.shown.count + moved.length,
        totals.shown.weight,
      ),
    ],
    record: record as unknown as Json,
    sources: shown.map(nameOf),
    ids: shown.map(({ fact }) => fact.id),
  }
}

/**
 * Whether what an epoch shows still holds: of the same project, and no fact that was changed,
 * replaced, forgotten or has ended.
 */
export function stillHolds(frozen: HeadPart | undefined, known: Known, hash: Hash): boolean {
  const record = recordIn(frozen)
  if (!record) return true
  if (record.project !== known.project) return false
  const current = new Map([...known.pinned, ...known.shown].map((one) => hashed(one, hash)))
  return record.facts.every(([name, line]) => current.get(name) === line)
}

/**
 * The facts that are newer than what an epoch shows, if there are any; how many of them did not fit
 * beside others is the last line.
 */
export function newsSince(
  frozen: HeadPart | undefined,
  known: Pick<Known, 'pinned' | 'shown' | 'recent' | 'asOf'>,
  size: number,
  count: (text: string) => number,
): TailPart | undefined {
  const { asOf = { user: 0, session: 0 }, facts = [] } = recordIn(frozen) ?? {}
  const shown = new Set(facts.map(([name]) => name))
  // What was shared or promoted lately need not have been made lately.
  const all = new Map([...known.recent, ...known.pinned, ...known.shown].map((one) => [nameOf(one), one]))
  const news = [...all.values()]
    .filter((one) => one.seq > asOf[one.scope] && !shown.has(nameOf(one)))
    .sort(inOrder)
  if (news.length === 0) return undefined
  const filling = new Filling('news', size, count)
  for (const one of news) filling.take(one.fact.id, factLine(one))
  const shows = news.slice(0, filling.items)
  const left = news.length - shows.length
  if (shows.length > 0 && left > 0) filling.lines.push(`(${left} more did not fit)`)
  return {
    sections: [
      {
        in: 'tail',
        at: PLACES.news,
        name: 'facts',
        text: filling.lines.join('\n'),
        trust: trustOf(shows),
        use: filling.use(),
        // Nothing names for good what waits for its home: another device may give its op that name.
        version: JSON.stringify(
          news.map((one) => [nameOf(one), one.seq > known.asOf[one.scope] || one.version]),
        ),
      },
    ],
    ids: shows.map(({ fact }) => fact.id),
  }
}

function recordIn(part: HeadPart | undefined): FactRecord | undefined {
  return part?.record as unknown as FactRecord | undefined
}

/** A pin is part of the instructions: one line, which nothing in it can end. */
function pinLine({ fact }: KnownFact): string {
  return `- ${fact.kind}: ${oneLine(fact.text)}`
}

/**
 * Another fact is data: the model should know whom it has it from, and by what to name it. What it
 * is named by comes first, where no text of a fact can pass for it.
 */
function factLine({ fact }: KnownFact): string {
  const { kind, title, text, trust, confidence } = fact
  const doubt = confidence < DOUBTFUL ? ', doubtful' : ''
  return `- ${labelOf(fact)} ${kind} [${trust}${doubt}] ${titled(title, oneLine(text))}`
}

/** A fact's name, with a hash of how it shows. */
function hashed(one: KnownFact, hash: Hash): readonly [name: string, hash: string] {
  return [nameOf(one), hash(one.fact.pinned ? pinLine(one) : factLine(one)).slice(0, 16)]
}

function trustOf(facts: readonly KnownFact[]): Trust {
  return lowestTrust(facts.map(({ fact }) => fact))
}

import type { SectionUse } from '../../ports/context.ts'
import type { Trust } from '../../ports/message.ts'
import { factKey } from './fact.ts'
import { DOUBTFUL } from './fact-index.ts'
import { hashText } from '../../kernel/text/hash.ts'
import { lowerTrust } from '../../kernel/log/message.ts'
import { headOf, longestHead } from '../../kernel/text/text.ts'
import { inOrder, type Known, type KnownFact, nameOf } from './known.ts'

/** Facts that a head shows at most: fewer than are read, so that a few new ones put none of them out of sight, which would end the epoch. */
const MOST = { pinned: 64, facts: 128 } as const
/** Items that an overflow names; the rest is counted. */
const NAMED = 5

/** Most tokens that each part of long-term memory takes in a context. */
export interface SectionSizes {
  /** Documents that are always in the prompt. Default: an eighth of the cap. */
  readonly profile: number
  /** Pinned facts. Default: a sixteenth of the cap. */
  readonly pins: number
  /** Names and descriptions of skills. Default: a thirty-second of the cap. */
  readonly skills: number
  /** Texts of skills that are loaded. Default: a sixteenth of the cap. */
  readonly loaded: number
  /** Other facts. Default: a sixteenth of the cap. */
  readonly facts: number
  /** Facts that are newer than the epoch, in the tail. Default: a thirty-second of the cap. */
  readonly news: number
  /** What is recalled, in the tail. Default: a sixteenth of the cap. */
  readonly recall: number
  /** An excerpt of the checkpoint, in the tail. Default 0: none. */
  readonly checkpoint: number
}

/** How much of it shows where the least context needs the room: all, pins and profile, or the profile alone. */
export type Extent = 'all' | 'pinned' | 'profile'

/** A named text, fenced where it shows. */
export interface Section {
  readonly name: string
  readonly text: string
  readonly trust: Trust
}

/** What of long-term memory an epoch shows from its beginning to its end. */
export interface Remembered {
  /** Follows the app's own instructions. */
  readonly system: string
  readonly memory: readonly Section[]
  /** Whose facts may be among them, beside those of no project. */
  readonly project?: string
  /** Hash of profile and skills as they were: where it differs from what is known, an epoch cannot go on. */
  readonly documents: string
  /** The facts that show, with a hash of how. */
  readonly facts: readonly (readonly [name: string, hash: string])[]
  /** Keys of those that are the session's own. */
  readonly sources: readonly string[]
  readonly asOf: Known['asOf']
  readonly uses: readonly SectionUse[]
}

/** Fills the sections of a head, each in strict order up to the first item that does not fit. Nothing, where nothing is known. */
export function remember(
  known: Known,
  sizes: SectionSizes,
  count: (text: string) => number,
  extent: Extent,
): Remembered | undefined {
  const { project, profile, skills, loaded, pinned, facts, totals, asOf } = known
  if ([profile, skills, loaded, pinned, facts].every(({ length }) => length === 0)) return undefined
  const documents = new Filling('profile', sizes.profile, count)
  for (const { name, text } of profile) documents.takePart(name, `## ${name}\n\n`, text)
  const pins = new Filling('pins', extent === 'profile' ? 0 : sizes.pins, count)
  const room = (size: number): number => (extent === 'all' ? size : 0)
  const index = new Filling('skills', room(sizes.skills), count)
  for (const { name, description } of skills) index.take(name, `- ${name}: ${oneLine(description)}`)
  const others = new Filling('facts', room(sizes.facts), count)
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
  const texts = new Filling('loaded-skills', room(sizes.loaded), count)
  for (const { name, text } of loaded) texts.takePart(name, `## ${name}\n\n`, text)
  const shown = [...pinned.slice(0, pins.items), ...shownFacts]
  const section = (filling: Filling, separator: string, trust: Trust): readonly Section[] =>
    filling.items === 0 ? [] : [{ name: filling.name, text: filling.lines.join(separator), trust }]
  return {
    system: [...documents.lines, ...(pins.items > 0 ? [`## Pinned\n\n${pins.lines.join('\n')}`] : [])].join(
      '\n\n',
    ),
    memory: [
      ...section(index, '\n', 'user'),
      ...section(others, '\n', trustOf(shownFacts)),
      ...section(texts, '\n\n', 'user'),
    ],
    ...(project !== undefined && { project }),
    documents: hashOf(known),
    facts: shown.map((one) => [nameOf(one), lineHash(one)]),
    sources: shown.flatMap(({ scope, fact }) => (scope === 'session' ? factKey(fact.id) : [])),
    asOf,
    uses: [
      documents.use(),
      pins.use(totals.pinned.count - moved.length, totals.pinned.weight),
      index.use(totals.skills.count, totals.skills.weight),
      others.use(totals.facts.count + moved.length, totals.facts.weight),
      texts.use(),
    ].filter(({ items, overflow }) => items > 0 || overflow.count > 0),
  }
}

/** Whether what an epoch shows still holds: of the same project, with the same documents, and no fact that was changed, replaced, forgotten or has ended. */
export function stillHolds(remembered: Remembered | undefined, known: Known): boolean {
  if (remembered && remembered.project !== known.project) return false
  if ((remembered?.documents ?? hashOf({ profile: [], skills: [] })) !== hashOf(known)) return false
  const current = new Map(
    [...known.pinned, ...known.facts].map((one) => [nameOf(one), lineHash(one)] as const),
  )
  return remembered?.facts.every(([name, hash]) => current.get(name) === hash) ?? true
}

/** Facts that are newer than what an epoch shows, as a section of the tail. */
export interface News {
  readonly section: Section
  readonly use: SectionUse
  /** Of the facts that it shows. */
  readonly ids: readonly string[]
}

/** The facts that are newer than what an epoch shows, if there are any; how many of them did not fit beside others is the last line. */
export function newsSince(
  remembered: Remembered | undefined,
  known: Known,
  size: number,
  count: (text: string) => number,
): News | undefined {
  const { user = 0, session = 0 } = remembered?.asOf ?? {}
  const shown = new Set(remembered?.facts.map(([name]) => name))
  // What was shared or promoted lately need not have been made lately.
  const all = new Map([...known.recent, ...known.pinned, ...known.facts].map((one) => [nameOf(one), one]))
  const news = [...all.values()]
    .filter((one) => one.seq > (one.scope === 'user' ? user : session) && !shown.has(nameOf(one)))
    .sort(inOrder)
  if (news.length === 0) return undefined
  const filling = new Filling('news', size, count)
  for (const one of news) filling.take(one.fact.id, factLine(one))
  const shows = news.slice(0, filling.items)
  const left = news.length - shows.length
  const lines =
    shows.length > 0 && left > 0 ? [...filling.lines, `(${left} more did not fit)`] : filling.lines
  return {
    section: { name: 'facts', text: lines.join('\n'), trust: trustOf(shows) },
    use: filling.use(),
    ids: shows.map(({ fact }) => fact.id),
  }
}

/** A pin is part of the instructions: one line, which nothing in it can end. */
function pinLine({ fact }: KnownFact): string {
  return `- ${fact.kind}: ${oneLine(fact.text)}`
}

/** Another fact is data: the model should know whom it has it from. */
function factLine({ fact }: KnownFact): string {
  const { kind, title, text, trust, confidence } = fact
  const doubt = confidence < DOUBTFUL ? ', doubtful' : ''
  const told = oneLine(text)
  const named = told.startsWith(title.replace(/…$/, '')) ? told : `${title}: ${told}`
  return `- ${kind} [${trust}${doubt}] ${named}`
}

function lineHash(one: KnownFact): string {
  return hashText(one.fact.pinned ? pinLine(one) : factLine(one)).slice(0, 16)
}

function hashOf({ profile, skills }: Pick<Known, 'profile' | 'skills'>): string {
  return hashText(
    JSON.stringify([
      profile.map(({ name, text }) => [name, text]),
      skills.map(({ name, description }) => [name, description]),
    ]),
  )
}

function trustOf(facts: readonly KnownFact[]): Trust {
  return facts.reduce<Trust>((low, { fact }) => lowerTrust(low, fact.trust), 'user')
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim()
}

import { PlimsollError } from '../ports/errors.ts'
import type { Message } from '../ports/message.ts'
import type { HidingMark } from '../ports/op.ts'
import type { LogRow, ScopeStore } from '../ports/store.ts'
import { PAGE_ROWS } from '../ports/store.ts'
import { fold, messagesOf, type Unit } from './fold.ts'
import { checkCount, checkId } from './json.ts'
import { findOpener, readEntry, readRange, type Slice } from './view.ts'

const DEFAULT_MESSAGES = 50
/** Rows that are read back at first beside as many messages as are asked for, or are in so many rounds: most conversations need no more. */
const FIRST_ROWS = 32
const ROWS_A_ROUND = 4
/** Pages that are read back at most to find the step of a late result. */
const LATE_PAGES = 8

export interface HistoryOptions {
  /** The last so many rounds. */
  readonly rounds?: number
  /** The last so many messages, widened to whole steps. Default 50, where `rounds` is not given. */
  readonly messages?: number
  /** Only what shows before this message. */
  readonly before?: string
  /** Most UTF-16 units of stored messages; the newest step is given in any case. So a page is read in a bounded memory. Default: no limit. */
  readonly characters?: number
}

/**
 * The end of a conversation as it shows (or what shows before a message), whole and uncut: rewound and forgotten messages
 * left out, late results in their step.
 *
 * Limit: of what was added late to older rounds, only what came within 512 entries after `before` is found.
 */
export async function readHistory(store: ScopeStore, options: HistoryOptions): Promise<readonly Message[]> {
  const { before } = options
  if (before !== undefined) checkId('history', 'before', before)
  const rounds = options.rounds === undefined ? Infinity : checkCount('history', 'rounds', options.rounds)
  const messages =
    options.messages === undefined
      ? options.rounds === undefined
        ? DEFAULT_MESSAGES
        : Infinity
      : checkCount('history', 'messages', options.messages)
  const characters =
    options.characters === undefined ? Infinity : checkCount('history', 'characters', options.characters)
  const rewinds = await readRewinds(store)
  let rows: readonly LogRow[] =
    before === undefined ? [] : (await store.entries({ from: before, first: PAGE_ROWS })).rows
  if (before !== undefined && rows.length === 0) throw notFound('history', before)
  const expected = Math.min(messages, ROWS_A_ROUND * rounds)
  for (let last = Math.min(FIRST_ROWS + expected, PAGE_ROWS); ; last = PAGE_ROWS) {
    const first = rows[0]
    const older = await store.entries({ last, ...(first && { to: first.id }) })
    rows = [...older.rows, ...rows]
    const opener = await findOpener(store, rows)
    const { units } = fold([...rows, ...rewinds], undefined, opener)
    const end = before === undefined ? units.length : placeOf(units, before)
    const shown = units.slice(0, Math.max(0, end))
    const from = start(shown, { rounds, messages, characters })
    // Rounds that opened in what was read are whole. Of others, which are longer than most, more is read, and taken as it comes:
    // the first unit may be an opener whose next steps are not read yet.
    const isWhole = from > 0 && rows.some(({ id }) => id === shown[from]?.round)
    if (isWhole || (from > 1 && last >= PAGE_ROWS) || !older.more) return messagesOf(shown.slice(from))
  }
}

/** Ids of everything that shows from a message on, and that of the message before it. @throws ERR_NOT_FOUND */
export async function readFromMessage(
  store: ScopeStore,
  view: Slice,
  id: string,
  operation: string,
): Promise<Pick<HidingMark, 'hides' | 'after'>> {
  // Between the opener and the other rows there are more.
  const ids = id === view.opener?.id ? [] : idsIn(view.conversation.units)
  const all = ids.includes(id) ? ids : await readIds(store, id)
  const place = all.indexOf(id)
  if (place < 0) throw notFound(operation, id)
  const before = all[place - 1]
  // The first of what was read may be an opener with more between.
  const isNext = before !== undefined && (place > 1 || view.opener === undefined || all !== ids)
  const after = isNext ? before : ((await readHistory(store, { before: id, messages: 1 })).at(-1)?.id ?? null)
  return { hides: all.slice(place), after }
}

/** Ids of what shows from the round of a message on. */
async function readIds(store: ScopeStore, id: string): Promise<readonly string[]> {
  const row = await readEntry(store, id)
  const rows = row?.round === undefined ? [] : await readRange(store, row.round)
  return idsIn(fold([...rows, ...(await readRewinds(store))]).units)
}

/** For each call id the round of the newest step in which it waits: in memory, else up to 4 096 entries back. */
export async function readRoundsOfCalls(
  store: ScopeStore,
  view: Slice & { readonly whole: boolean },
  ids: ReadonlySet<string>,
): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>()
  if (ids.size === 0) return found
  let { units } = view.conversation
  let rows = view.rows.filter((row) => row !== view.opener)
  for (let page = 0, { whole } = view; ; page++) {
    for (const { calls, round } of units.toReversed())
      for (const { answered, part } of calls)
        if (!answered && ids.has(part.id) && !found.has(part.id)) found.set(part.id, round)
    const [first] = rows
    if (found.size === ids.size || whole || !first || page === LATE_PAGES) return found
    const older = await store.entries({ last: PAGE_ROWS, to: first.id })
    rows = [...older.rows, ...rows]
    whole = !older.more
    units = fold(rows, undefined, await findOpener(store, rows)).units
  }
}

/** All rewinds of a session. */
export async function readRewinds(store: ScopeStore): Promise<LogRow[]> {
  const rows: LogRow[] = []
  for (let to: string | undefined; ; ) {
    const page = await store.entries({ last: PAGE_ROWS, kinds: ['rewind'], ...(to !== undefined && { to }) })
    rows.unshift(...page.rows)
    if (!page.more) return rows
    to = page.rows[0]?.id
  }
}

function idsIn(units: readonly Unit[]): readonly string[] {
  return units.flatMap((unit) => [unit.row.id, ...unit.results.map((result) => result.row.id)])
}

function placeOf(units: readonly Unit[], id: string): number {
  return units.findIndex((unit) => unit.row.id === id || unit.results.some((result) => result.row.id === id))
}

/** First unit of the last so many rounds, messages and characters. */
function start(
  units: readonly Unit[],
  { rounds, messages, characters }: Required<Omit<HistoryOptions, 'before'>>,
): number {
  let from = units.length
  let seenRounds = 0
  let seenMessages = 0
  let seenCharacters = 0
  while (from > 0 && seenMessages < messages) {
    const unit = units[from - 1] as Unit
    if (unit.round !== units[from]?.round || from === units.length) seenRounds++
    if (seenRounds > rounds) break
    seenCharacters += charactersOf(unit)
    if (seenCharacters > characters && from < units.length) break
    seenMessages += 1 + unit.results.length
    from--
  }
  return from
}

function charactersOf({ row, results }: Unit): number {
  return results.reduce((sum, result) => sum + (result.row.body?.length ?? 0), row.body?.length ?? 0)
}

export function notFound(operation: string, id: string): PlimsollError {
  return new PlimsollError('ERR_NOT_FOUND', `${operation}: ${id} does not show in this session`, { id })
}

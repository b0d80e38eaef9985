import { PlimsollError } from '../../ports/errors.ts'
import type { SessionMessage } from '../../ports/message.ts'
import type { HistoryOptions } from '../../ports/session.ts'
import type { LogRow, ScopeStore } from '../../ports/store.ts'
import { PAGE_ROWS } from '../../ports/store.ts'
import { checkShape, optional } from '../../text/fields.ts'
import { checkCount, checkId } from '../../text/json.ts'
import { findOpener, readAll } from './entries.ts'
import { fold, messagesOf, type Unit } from './fold.ts'

const DEFAULT_MESSAGES = 50
/**
 * Rows that are read back at first beside as many messages as are asked for, or are in so many
 * rounds: most conversations need no more.
 */
const FIRST_ROWS = 8
/** Rows that are read back next, and four times as many each time after that. */
const NEXT_ROWS = 32
const ROWS_A_ROUND = 4
const count = optional(checkCount)
const OPTIONS = { before: optional(checkId), rounds: count, messages: count, characters: count }

/**
 * The end of a conversation as it shows (or what shows before a message), whole and uncut: rewound
 * and forgotten messages left out, late results in their step.
 *
 * Limit: of what was added late to older rounds, only what came within 512 entries after `before`
 * is found.
 */
export async function readHistory(
  store: ScopeStore,
  options: HistoryOptions,
): Promise<readonly SessionMessage[]> {
  const {
    before,
    rounds = Infinity,
    messages = rounds < Infinity ? Infinity : DEFAULT_MESSAGES,
    characters = Infinity,
  } = checkShape<HistoryOptions>('history', 'options', options, OPTIONS)
  // Before the rows: what is confirmed then stays so.
  const { confirmed } = await store.head()
  let rows: readonly LogRow[] =
    before === undefined ? [] : (await store.entries({ from: before, first: PAGE_ROWS })).rows
  if (before !== undefined && rows.length === 0) throw notFound('history', before)
  const expected = Math.min(messages, ROWS_A_ROUND * rounds)
  let last = Math.min(FIRST_ROWS + expected, PAGE_ROWS)
  for (let next = NEXT_ROWS, read = last; ; next = Math.min(4 * next, PAGE_ROWS), read += last) {
    const first = rows[0]
    const older = await store.entries({ last, ...(first && { to: first.id }) })
    rows = [...older.rows, ...rows]
    const opener = await findOpener(store, rows)
    const rewinds = await rewindsBeside(store, rows, opener, before !== undefined)
    const { units } = fold([...rows, ...rewinds], undefined, opener)
    const end = before === undefined ? units.length : placeOf(units, before)
    const shown = units.slice(0, Math.max(0, end))
    const from = start(shown, { rounds, messages, characters })
    // Rounds that opened in what was read are whole. Of others, which are longer than most, more is
    // read, and taken as it comes. The first unit may be an opener whose next steps are not read
    // yet.
    const isEnough = read >= PAGE_ROWS || rows.some(({ id }) => id === shown[from]?.round)
    if ((from > 0 && isEnough) || !older.more) {
      // One that holds results of several steps is of the page of the first of them.
      const before = new Set(messagesOf(shown.slice(0, from)).map(({ id }) => id))
      return messagesOf(shown.slice(from), confirmed).filter(({ id }) => !before.has(id))
    }
    last = next
  }
}

/** All rewinds of a session. */
export function readRewinds(store: ScopeStore): Promise<LogRow[]> {
  return readAll(store, { kinds: ['rewind'] })
}

/** Rewinds that may hide what is read, and are not in it: each stands after what it hides. */
async function rewindsBeside(
  store: ScopeStore,
  [first]: readonly LogRow[],
  opener: LogRow | undefined,
  endsBefore: boolean,
): Promise<readonly LogRow[]> {
  const from = (opener ?? first)?.id
  if (from === undefined || !(opener || endsBefore)) return []
  const to = endsBefore ? undefined : first?.id
  return readAll(store, { from, ...(to !== undefined && { to }), kinds: ['rewind'] })
}

function placeOf(units: readonly Unit[], id: string): number {
  return units.findIndex((unit) => unit.row.id === id || unit.results.some((result) => result.row.id === id))
}

/** First unit of the last so many rounds, messages and characters. */
function start(
  units: readonly Unit[],
  { rounds, messages, characters }: Required<Omit<HistoryOptions, 'before'>>,
): number {
  const seenRounds = new Set<string>()
  let seenMessages = 0
  let seenCharacters = 0
  let from = units.length
  for (; from > 0 && seenMessages < messages; from--) {
    const unit = units[from - 1] as Unit
    seenRounds.add(unit.round)
    seenCharacters += charactersOf(unit)
    const isNewest = from === units.length
    if (seenRounds.size > rounds || (seenCharacters > characters && !isNewest)) break
    seenMessages += 1 + unit.results.length
  }
  return from
}

function charactersOf({ row, results }: Unit): number {
  return [{ row }, ...results].reduce((sum, shown) => sum + (shown.row.body as string).length, 0)
}

export function notFound(operation: string, id: string): PlimsollError {
  return new PlimsollError('ERR_NOT_FOUND', `${operation}: ${id} does not show in this session`, { id })
}

import { registerPages } from '../../kernel/log/register-pages.ts'
import { PlimsollError } from '../../ports/errors.ts'
import { idIn, type Name, type OpResult, type SealedOp } from '../../ports/op.ts'
import type { RegisterRow, ScopeStore } from '../../ports/store.ts'
import {
  type Cursor,
  isHeld,
  MOST_NAMES,
  type Place,
  type PullAnswer,
  type PullRequest,
  START,
} from './pull.ts'
import type { Rule } from './rules.ts'

/** Most answers that one pull takes. */
const MOST_ANSWERS = 128

/** All that a replica lacks, as of one place of its home. */
export interface Collected {
  readonly results?: readonly OpResult[]
  /** Whether the rows are all that there is, rather than what changed. */
  readonly isReset: boolean
  /** Whether that came with the names of what was deleted before: a snapshot does not have them. */
  readonly isWhole: boolean
  readonly rows: ReadonlyMap<string, RegisterRow>
  /** What was deleted, as far as that is known. */
  readonly gone: ReadonlySet<Name>
  readonly place: Place
}

export interface CollectParts {
  readonly sessionId: string
  /** Where the replica stands. */
  readonly since: Place
  readonly names: readonly string[]
  readonly commit?: { readonly ops: readonly SealedOp[]; readonly rule: Rule }
  /** The replica's own registers. */
  readonly local: Pick<ScopeStore, 'registers'>
  readonly ask: (request: PullRequest) => Promise<PullAnswer>
}

/**
 * Pulls until there is nothing more: page after page, and of what may have been deleted with its
 * sources, whether it was.
 *
 * @throws ERR_LIMIT: that took too many answers; what `ask` throws
 */
export async function collect(parts: CollectParts): Promise<Collected> {
  const { sessionId, since, local, ask } = parts
  const rows = new Map<string, RegisterRow>()
  const gone = new Set<Name>()
  const asked = new Set<string>()
  let results: readonly OpResult[] | undefined
  let isReset = false
  let isWhole = true
  /**
   * Whether something was deleted while the registers were sent, and whether they are sent once
   * more for that.
   */
  let wasDeleted = false
  let isAgain = false
  let cursor: Cursor = { since }
  let { names } = parts
  for (let count = 0; count < MOST_ANSWERS; count++) {
    const answer = await ask({
      sessionId,
      cursor,
      names,
      ...(count === 0 && parts.commit && { commit: parts.commit }),
    })
    results ??= answer.results
    if (answer.reset) {
      isReset = true
      isWhole = answer.reset === 'log'
      wasDeleted = false
      for (const known of [rows, gone, asked]) known.clear()
    }
    for (const row of answer.rows) rows.set(row.key, row)
    const before = gone.size
    for (const name of answer.deleted) gone.add(name)
    for (const { key, body } of answer.rows) if (body === null) gone.add(`register:${key}`)
    // What was looked at may have been deleted since.
    if (gone.size > before && answer.deleted.length > 0) asked.clear()
    wasDeleted ||= !isWhole && answer.deleted.length > 0
    names = []
    if (answer.next) {
      cursor = answer.next
      continue
    }
    // What derives from it may stand before the place at which that was missing already.
    if (wasDeleted && !isAgain) {
      isAgain = true
      cursor = { since: START }
      names = parts.names
      continue
    }
    const unknown = (source: Name): boolean => {
      const key = idIn('register', source)
      return (key !== undefined && !isHeld(key, sessionId)) || (!isWhole && !rows.has(key ?? ''))
    }
    const derived = await derivedFrom(gone, rows, isReset ? undefined : local, unknown)
    names = [...derived].filter((name) => !asked.has(name)).slice(0, MOST_NAMES)
    if (names.length === 0)
      return { ...(results && { results }), isReset, isWhole, rows, gone, place: answer.place }
    for (const name of names) asked.add(name)
    cursor = { since: answer.place }
  }
  throw new PlimsollError('ERR_LIMIT', `pull: more than ${MOST_ANSWERS} answers`, { limit: MOST_ANSWERS })
}

/**
 * Registers that name what is gone as a source, and in turn what names these: they may be gone too.
 */
async function derivedFrom(
  gone: ReadonlySet<Name>,
  rows: ReadonlyMap<string, RegisterRow>,
  local: Pick<ScopeStore, 'registers'> | undefined,
  unknown: (source: Name) => boolean,
): Promise<ReadonlySet<string>> {
  const found = new Set<string>()
  if (gone.size === 0) return found
  const naming = new Map<Name, string[]>()
  const note = ({ key, sources = [] }: RegisterRow): void => {
    for (const source of sources) naming.set(source, [...(naming.get(source) ?? []), key])
  }
  for (const row of rows.values()) note(row)
  if (local)
    for await (const page of registerPages(local, ''))
      for (const row of page) if (!rows.has(row.key)) note(row)
  // Of what is not held here, or was gone before its place in a snapshot came, nobody says whether
  // it is gone too.
  const names = new Set([...gone, ...[...naming.keys()].filter(unknown)])
  for (const name of names)
    for (const key of naming.get(name) ?? []) {
      names.add(`register:${key}`)
      found.add(key)
    }
  return found
}

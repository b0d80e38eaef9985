import { writeAudit } from '../../features/audit.ts'
import { FACT, factIn } from '../../features/facts/fact.ts'
import { dropNotes } from '../../features/facts/kept.ts'
import { changeRegister } from '../../features/register.ts'
import { writtenIn } from '../../features/written.ts'
import { commitDeletes, emptiedBy } from '../../forgetting/deletes.ts'
import { notesAbout } from '../../forgetting/note-keys.ts'
import { messageIn, valueIn } from '../../kernel/log/bodies.ts'
import { isPlimsollError } from '../../ports/errors.ts'
import type { Host } from '../../ports/host.ts'
import { idIn, type Name, type Scope } from '../../ports/op.ts'
import {
  hasBody,
  type LogRow,
  PAGE_ROWS,
  type RegisterRow,
  type ScopeStore,
  type Store,
} from '../../ports/store.ts'
import { forgetAll, forgetShared } from '../forget/cascade.ts'
import type { RetentionOptions, UnreadableLeft } from './retention-options.ts'

export interface RetentionParts {
  readonly store: Store
  readonly host: Host
  readonly options: RetentionOptions
}

const DAY = 86_400_000
/** Rows that one call looks at, and rows that a scope counts for at least. */
const ROWS_AT_ONCE = 512
const ROWS_A_SCOPE = 8
/** Rows of forgotten messages after which it is worth a row to say that nothing is left of them. */
const WORTH_NOTING = 128
const CHECKPOINT = 'checkpoint'
/** The register of a session that says how far its log was looked through. */
const KEY = 'retention'
const BY = 'retention'

interface Place {
  /** Id of the message up to which nothing is left. */
  readonly log?: string
  /**
   * The version of a checkpoint that does not say when it was written, and when it was first seen
   * here.
   */
  readonly checkpoint?: { readonly version: string; readonly at: number }
}

/** Where a pass over all scopes is. */
interface Pass {
  /** Scopes of the page that are still to come; the first is being looked through. */
  scopes: readonly Scope[]
  last: Scope | undefined
  /** Key of the last fact that was looked at in the first scope. */
  fact: string | undefined
  /** Id of the message up to which its log was looked through. */
  log: string | undefined
  /** Whether something stays before that which a later pass has to look at again. */
  passedBy: boolean
  /** Whether its log is done. */
  logDone: boolean
  /** When what was seen so far is due. */
  next: number
}

/**
 * Removes what is older than it may be, over all scopes of a store, a part at a time. A pass goes
 * on where the call before it ended; after an end of the process it begins again, and each
 * session's register says where its log begins.
 */
export class Retention {
  readonly #parts: RetentionParts
  #pass: Pass | undefined
  /** When the next pass begins; undefined: none was made yet. */
  #next: number | undefined
  #running: Promise<void> | undefined

  constructor(parts: RetentionParts) {
    this.#parts = parts
  }

  /** Unix milliseconds. */
  nextAt(): number {
    const now = this.#parts.host.now()
    return this.#pass ? now : (this.#next ?? now)
  }

  /**
   * Does a part of what is due: looks at 512 rows, or a few more where a round ends later. Calls at
   * the same time share one run.
   */
  run(): Promise<void> {
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined
    })
    return this.#running
  }

  async #run(): Promise<void> {
    const { host, options } = this.#parts
    const now = host.now()
    if (!this.#pass && this.#next !== undefined && this.#next > now) return
    const { log, facts, checkpoint } = options
    const days = [log, facts, checkpoint].flatMap((kept) => kept?.days ?? [])
    const shortest = Math.min(...days) * DAY
    this.#pass ??= { scopes: [], last: undefined, ...FRESH, next: now + shortest }
    const pass = this.#pass
    for (let left = ROWS_AT_ONCE; left > 0; ) {
      const scope = await this.#current(pass)
      if (!scope) {
        this.#next = pass.next
        this.#pass = undefined
        return
      }
      try {
        const { rows, isDone } = await this.#sweep(scope, pass, now)
        left -= Math.max(ROWS_A_SCOPE, rows)
        if (isDone) leave(pass)
      } catch (error) {
        // One scope that cannot be read keeps no other from its turn.
        leave(pass)
        pass.next = Math.min(pass.next, now + DAY)
        throw error
      }
    }
  }

  async #current(pass: Pass): Promise<Scope | undefined> {
    if (pass.scopes.length === 0) {
      pass.scopes = await this.#parts.store.scopes(pass.last)
      pass.last = pass.scopes.at(-1)
    }
    return pass.scopes[0]
  }

  /** Looks at a part of one scope. */
  async #sweep(
    scope: Scope,
    pass: Pass,
    now: number,
  ): Promise<{ readonly rows: number; readonly isDone: boolean }> {
    const { store, options } = this.#parts
    const { sessionId, ...user } = scope
    const own = store.open(scope)
    const shared = sessionId === undefined ? own : store.open(user)
    const look: Look = {
      scope,
      own,
      shared,
      sessionId,
      open: (other) => store.open({ ...user, sessionId: other }),
      now,
    }
    let rows = 0
    if (options.log && sessionId !== undefined && !pass.logDone) {
      const done = await this.#log(look, options.log.days * DAY, pass)
      rows += done.rows
      if (!done.isDone) return { rows, isDone: false }
      pass.logDone = true
    }
    if (options.checkpoint && sessionId !== undefined && pass.fact === undefined) {
      await this.#checkpoint(look, options.checkpoint.days * DAY, pass)
      rows++
    }
    if (!options.facts) return { rows, isDone: true }
    const done = await this.#facts(look, options.facts.days * DAY, pass)
    return { rows: rows + done.rows, isDone: done.isDone }
  }

  /** Forgets the oldest rounds, a page of them. */
  async #log(look: Look, limit: number, pass: Pass): Promise<Done> {
    const { host } = this.#parts
    const { own, shared, sessionId = '', open, now } = look
    const { rows, more } = await oldestRounds(own, pass.log ?? (await placeIn(own))?.log)
    const rounds = new Map<string, LogRow[]>()
    for (const row of rows) rounds.set(roundOf(row), [...(rounds.get(roundOf(row)) ?? []), row])
    const newest = newestRound(rows)
    const due: LogRow[] = []
    const ageless = new Set<LogRow>()
    for (const [round, members] of rounds) {
      const times = members.flatMap((row) => messageIn(row)?.createdAt ?? [])
      if (times.length === 0) {
        // Of the newest one more may follow, which says when it was.
        if (round !== newest) for (const row of members.filter(hasBody)) ageless.add(row)
        continue
      }
      const end = Math.max(...times) + limit
      if (round === newest) pass.next = Math.min(pass.next, Math.max(end, now + DAY))
      else if (end > now) pass.next = Math.min(pass.next, end)
      else due.push(...members.filter(hasBody))
    }
    if (due.length > 0)
      await forgetAll(
        { store: own, sessionId, userStore: shared, open, host },
        { rows: due, own: [], shared: [] },
        { action: 'forget', target: sessionId, by: BY },
      )
    const gone = new Set(due)
    const stays = rows.findIndex((row) => hasBody(row) && !gone.has(row) && !ageless.has(row))
    const looked = rows.slice(0, stays < 0 ? rows.length : stays)
    const first = looked.findIndex((row) => ageless.has(row))
    const kept = first < 0 ? stays : first
    const log = rows[(kept < 0 ? rows.length : kept) - 1]?.id
    if (!pass.passedBy && log !== undefined && (due.length > 0 || kept < 0 || kept >= WORTH_NOTING))
      await this.#note(own, { log })
    for (const { id } of looked.filter((row) => ageless.has(row))) this.#tell(look, 'log', id)
    pass.passedBy ||= first >= 0
    pass.log = looked.at(-1)?.id ?? pass.log
    return { rows: rows.length, isDone: !more || (due.length === 0 && first < 0 && stays >= 0) }
  }

  async #facts(look: Look, limit: number, pass: Pass): Promise<Done> {
    const { own, shared, sessionId, open, now } = look
    const { host } = this.#parts
    const page = await own.registers(FACT, pass.fact)
    for (const { key, unreadable } of page) if (unreadable) this.#tell(look, 'facts', key)
    const keys = page.flatMap((row) => (this.#isDue(row, limit, now, pass) ? row.key : []))
    if (keys.length > 0 && sessionId === undefined)
      await forgetShared({ userStore: own, open, host }, keys, { action: 'forget', by: BY })
    // What was handed over is the user's, and goes when it is due there.
    if (keys.length > 0 && sessionId !== undefined) {
      const names = keys.map((key): Name => `register:${key}`)
      const gone = (await emptiedBy(own, host, names)).flatMap((name) => idIn('register', name) ?? [])
      await dropNotes(shared, host, notesAbout(sessionId, gone))
      await writeAudit(shared, host, {
        action: 'forget',
        target: sessionId,
        counts: { facts: keys.length },
        by: BY,
      })
      await commitDeletes(own, host, names)
    }
    pass.fact = page.at(-1)?.key
    return { rows: page.length, isDone: page.length < PAGE_ROWS }
  }

  #isDue(row: RegisterRow, limit: number, now: number, pass: Pass): boolean {
    const fact = factIn(row)
    if (!fact || fact.pinned) return false
    const end = fact.createdAt + limit
    if (end > now) pass.next = Math.min(pass.next, end)
    return end <= now
  }

  async #checkpoint(look: Look, limit: number, pass: Pass): Promise<void> {
    const { own, now } = look
    const { host } = this.#parts
    const row = await own.register(CHECKPOINT)
    if (row?.unreadable) return this.#tell(look, 'checkpoint', CHECKPOINT)
    if (!row || (valueIn(row) ?? null) === null) return
    const { version } = row
    const at = writtenIn(row) ?? (await this.#firstSeen(own, version, now))
    const end = at + limit
    if (end > now) pass.next = Math.min(pass.next, end)
    else
      await changeRegister(own, host, {
        operation: BY,
        key: CHECKPOINT,
        ifVersion: version,
        change: () => null,
      }).catch(unlessConflict)
  }

  #tell({ scope }: Look, part: UnreadableLeft['part'], id: string): void {
    try {
      this.#parts.options.onUnreadable?.({ scope, part, id })
    } catch {
      // One that throws keeps nothing else from being removed.
    }
  }

  /** When a version was first seen here that does not say when it was written. */
  async #firstSeen(own: ScopeStore, version: string, now: number): Promise<number> {
    const seen = (await placeIn(own))?.checkpoint
    if (seen?.version === version) return seen.at
    await this.#note(own, { checkpoint: { version, at: now } })
    return now
  }

  async #note(own: ScopeStore, place: Place): Promise<void> {
    if ((await own.register(KEY))?.unreadable) return
    await changeRegister<Place>(own, this.#parts.host, {
      operation: BY,
      key: KEY,
      change: (before) => ({ ...before, ...place }),
    })
  }
}

interface Look {
  readonly scope: Scope
  /** The scope that is looked through. */
  readonly own: ScopeStore
  /** That of its user. */
  readonly shared: ScopeStore
  readonly sessionId: string | undefined
  readonly open: (sessionId: string) => ScopeStore
  readonly now: number
}

interface Done {
  readonly rows: number
  readonly isDone: boolean
}

const FRESH = { fact: undefined, log: undefined, passedBy: false, logDone: false } as const

/** How far a scope was looked through; undefined: nothing says so, or nothing that can be read. */
async function placeIn(own: ScopeStore): Promise<Place | undefined> {
  const row = await own.register(KEY)
  return row && ((valueIn(row) as Place | null | undefined) ?? undefined)
}

/** What was written meanwhile is new. */
function unlessConflict(error: unknown): void {
  if (!isPlimsollError(error, 'ERR_CONFLICT')) throw error
}

function leave(pass: Pass): void {
  pass.scopes = pass.scopes.slice(1)
  Object.assign(pass, FRESH)
}

/** A page of a log's messages, and further ones until a second round begins. */
async function oldestRounds(
  store: ScopeStore,
  from: string | undefined,
): Promise<{ readonly rows: readonly LogRow[]; readonly more: boolean }> {
  const rows: LogRow[] = []
  for (let after = from; ; ) {
    const page = await store.entries({
      first: PAGE_ROWS,
      kinds: ['message'],
      ...(after !== undefined && { after }),
    })
    rows.push(...page.rows)
    after = page.rows.at(-1)?.id
    const isWhole = rows.some((row) => hasBody(row) && roundOf(row) !== newestRound(rows))
    if (!page.more || after === undefined || isWhole || !rows.some(hasBody)) return { rows, more: page.more }
  }
}

/** The round that was opened last: more of it may follow. */
function newestRound(rows: readonly LogRow[]): string | undefined {
  const opener = rows.findLast((row) => row.id === row.round) ?? rows.at(-1)
  return opener && roundOf(opener)
}

function roundOf({ id, round = id }: LogRow): string {
  return round
}

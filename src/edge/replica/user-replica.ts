import { KEPT } from '../../features/facts/fact-index.ts'
import { NOTE } from '../../forgetting/note-keys.ts'
import { shownKeyIn } from '../../forgetting/shown-in.ts'
import { decide } from '../../kernel/log/decide.ts'
import { registerPages } from '../../kernel/log/register-pages.ts'
import { sealOp } from '../../kernel/log/seal.ts'
import { type ErrorCode, isPlimsollError, PlimsollError } from '../../ports/errors.ts'
import type { Host } from '../../ports/host.ts'
import { idIn, type OpResult, type Scope, type SealedOp } from '../../ports/op.ts'
import type {
  Attachment,
  Changes,
  Decide,
  DerivedRow,
  EntriesQuery,
  Head,
  IndexQuery,
  Page,
  RegisterRow,
  ScopeStore,
  Sum,
} from '../../ports/store.ts'
import { applyPull, placeOf } from './apply-pull.ts'
import { type CallHost, callObject } from './call-object.ts'
import { type Collected, collect } from './collect.ts'
import { isHeld, mayBeOthers, type PullAnswer, type PullRequest } from './pull.ts'
import { remoteScope, type ScopeHost } from './remote-scope.ts'
import { ruleOf } from './rules.ts'

/** What the object offers that is the home of a user's scope. */
export interface UserHome extends ScopeHost {
  /**
   * Contract: checks that the scope lives here, and answers by `answerPull`. @throws ERR_NOT_FOUND
   */
  pull(scope: Scope, request: PullRequest): Promise<PullAnswer>
}

export interface UserReplicaParts {
  /** The user's scope in the session object's own store. Nobody else may write there. */
  readonly local: ScopeStore
  /** The user's scope. */
  readonly scope: Scope
  readonly sessionId: string
  /** Contract: gives a new stub of the user's object at each call. */
  readonly stub: () => UserHome
  readonly host: CallHost & Pick<Host, 'now'>
  /**
   * Contract: removes what else shows registers that are gone, by their keys; durable when it
   * resolves, and idempotent. The replica comes to stand behind their deletion only then.
   */
  readonly onGone: (keys: readonly string[]) => Promise<unknown>
  /** How long `refresh` waits, in milliseconds; the pull goes on by itself. Default: 5 000. */
  readonly patienceMs?: number
}

/** Why a replica is not as fresh as it was asked to be. */
export interface RefreshFailure {
  readonly code: ErrorCode
  readonly message: string
}

/** When a replica was pulled last. */
interface Freshness {
  readonly at: number
  /** Pokes that had come before that pull began. */
  readonly pokes: number
}

const PATIENCE_MS = 5_000
/** Pulls that one call makes where others move the replica in between. */
const MOST_PULLS = 8
/** Keys that are known to name no register. */
const MOST_ABSENT = 4_096
/**
 * The op behind which an emptied copy stands: no home knows it, so that the next pull gets all that
 * there is.
 */
const CLEARED = 'replica/cleared'

/**
 * The user's scope inside a session's object. Reads of registers are local and answer what the home
 * would have answered at the last pull; commits go home, and what changed there since comes back in
 * the same answer, so that a writer reads its own writes. What was deleted at home is emptied here
 * with the next pull.
 *
 * It holds the registers of the user's scope with their indexes and sums, but of those that list
 * sessions (`session/<id>`) its own session's alone, and of the notes about what sessions keep
 * none. These, entries, changes, attachments and what was derived are read at home. `head()` has
 * the home's seq; its `indexed` says whether anything stood in an index here.
 */
export class UserReplica implements ScopeStore {
  readonly #parts: UserReplicaParts
  readonly #local: ScopeStore
  readonly #home: ScopeStore
  readonly #absent = new Set<string>()
  #fresh: Freshness | undefined
  #pokes = 0
  #pulling: { readonly pokes: number; readonly done: Promise<unknown> } | undefined

  constructor(parts: UserReplicaParts) {
    this.#parts = parts
    this.#local = parts.local
    this.#home = remoteScope(parts)
  }

  /**
   * Pulls, unless that was done within `olderThan` milliseconds and no poke came since; calls at
   * the same time share one pull. It fails open: where the home does not answer, or not within
   * `patienceMs`, the replica stays as it was. Default: 60 000.
   *
   * @returns why it is not fresh, for the receipt; undefined: it is
   */
  async refresh({
    olderThan = 60_000,
  }: {
    readonly olderThan?: number
  } = {}): Promise<RefreshFailure | undefined> {
    const { host, patienceMs = PATIENCE_MS } = this.#parts
    const { at, pokes } = this.#fresh ?? { at: Number.NEGATIVE_INFINITY, pokes: -1 }
    if (pokes === this.#pokes && Math.abs(host.now() - at) <= olderThan) return undefined
    const limit = host.timeout(patienceMs)
    const late = new Promise<never>((_, reject) => {
      limit.signal.addEventListener('abort', () => {
        const reason = `refresh: the user's home did not answer within ${patienceMs} ms`
        reject(new PlimsollError('ERR_TIMEOUT', reason, { limit: patienceMs }))
      })
    })
    try {
      await Promise.race([this.#shared(), late])
      return undefined
    } catch (error) {
      if (isPlimsollError(error)) return { code: error.code, message: error.message }
      return { code: 'ERR_STORAGE', message: `refresh: the user's home failed` }
    } finally {
      limit.clear()
    }
  }

  /** When it was pulled last, Unix milliseconds; undefined: not since the object woke. */
  get pulledAt(): number | undefined {
    return this.#fresh?.at
  }

  /**
   * Says that something changed at home: the next `refresh` pulls. A hint, which may be lost, late
   * or repeated.
   */
  poke(): void {
    this.#pokes++
  }

  /**
   * Pulls, however young the replica is. What was deleted at home before this was called is in no
   * part of the session when it resolves. @throws as the home
   */
  async sync(): Promise<void> {
    this.poke()
    await this.#shared()
  }

  /**
   * Commits at home.
   *
   * @throws ERR_INVALID_ARGUMENT (a function that is no rule of the core), ERR_OVERLOADED,
   * ERR_STORAGE: it does not mean "not written", and the same ops may be sent again
   */
  async commit(ops: readonly SealedOp[], decide: Decide): Promise<readonly OpResult[]> {
    return (await this.#pull([], { ops, rule: ruleOf(decide) })) ?? []
  }

  /** Empties the copy. The next pull starts over. */
  async clear(): Promise<void> {
    await this.#local.commit([sealOp({ kind: 'erase', opId: CLEARED })], decide)
    this.#absent.clear()
    this.#fresh = undefined
  }

  head(): Promise<Head> {
    return this.#local.head()
  }

  async register(key: string): Promise<RegisterRow | undefined> {
    if (!isHeld(key, this.#parts.sessionId)) return this.#home.register(key)
    const row = await this.#local.register(key)
    if (row || this.#absent.has(key) || (await placeOf(this.#local)).isWhole) return row
    // It may have been deleted before the first pull, and then it is not for others to take.
    await this.#pull([key]).catch(() => {})
    return this.#local.register(key)
  }

  registers(prefix: string, after?: string): Promise<readonly RegisterRow[]> {
    return (mayBeOthers(prefix) ? this.#home : this.#local).registers(prefix, after)
  }

  indexed(group: string, query?: IndexQuery): Promise<readonly RegisterRow[]> {
    return (isKept(group) ? this.#home : this.#local).indexed(group, query)
  }

  sums(groups: readonly string[]): Promise<ReadonlyMap<string, Sum>> {
    return (groups.some(isKept) ? this.#home : this.#local).sums(groups)
  }

  entries(query?: EntriesQuery): Promise<Page> {
    return this.#home.entries(query)
  }

  changesSince(seq: number): Promise<Changes> {
    return this.#home.changesSince(seq)
  }

  attach(attachment: Attachment, at: number): Promise<'stored' | 'kept' | 'deleted'> {
    return this.#home.attach(attachment, at)
  }

  attachment(id: string): Promise<Attachment | undefined> {
    return this.#home.attachment(id)
  }

  attached(ids: readonly string[]): Promise<readonly string[]> {
    return this.#home.attached(ids)
  }

  derive(row: DerivedRow, seq: number): Promise<boolean> {
    return this.#home.derive(row, seq)
  }

  derived(prefix: string, after?: string): Promise<readonly DerivedRow[]> {
    return this.#home.derived(prefix, after)
  }

  close(): Promise<void> {
    return this.#local.close()
  }

  /** The pull that is under way, unless it began before the last poke. */
  #shared(): Promise<unknown> {
    if (this.#pulling?.pokes === this.#pokes) return this.#pulling.done
    const pulling = {
      pokes: this.#pokes,
      done: this.#pull([]).finally(() => {
        if (this.#pulling === pulling) this.#pulling = undefined
      }),
    }
    // Its caller may have stopped waiting.
    pulling.done.catch(() => {})
    this.#pulling = pulling
    return pulling.done
  }

  async #pull(
    names: readonly string[],
    commit?: PullRequest['commit'],
  ): Promise<readonly OpResult[] | undefined> {
    const { sessionId, scope, stub, host } = this.#parts
    let results: readonly OpResult[] | undefined
    for (let count = 0; count < MOST_PULLS; count++) {
      const fresh = { at: host.now(), pokes: this.#pokes }
      const { isWhole, ...since } = await placeOf(this.#local)
      const collected = await collect({
        sessionId,
        since,
        names,
        local: this.#local,
        ask: (request) => callObject(stub, host, 'pull', (home) => home.pull(scope, request)),
        // What was committed is not committed again.
        ...(results === undefined && commit && { commit }),
      })
      results ??= collected.results
      const pulled = { since, wasWhole: isWhole, names }
      const gone = await goneIn(collected, this.#local)
      if (gone.length > 0) await this.#parts.onGone(gone)
      // All registers may come without what was deleted; where it fails, they may be written all
      // the same.
      const isApplied = await applyPull(this.#local, pulled, collected).finally(() => {
        if (collected.isReset) this.#absent.clear()
      })
      if (isApplied) {
        this.#note(names, collected)
        this.#fresh = fresh
        return results
      }
    }
    throw new PlimsollError('ERR_STORAGE', `pull: the replica was moved ${MOST_PULLS} times in a row`)
  }

  /**
   * Keeps in mind which keys name nothing. A put of one of them comes with the pull that brings its
   * seq.
   */
  #note(names: readonly string[], { rows }: Collected): void {
    if (this.#absent.size > MOST_ABSENT) this.#absent.clear()
    for (const name of names) if (!rows.has(name)) this.#absent.add(name)
  }
}

/** Whether a group is of what all sessions keep: no session holds what another one said. */
function isKept(group: string): boolean {
  return group === KEPT || group.startsWith(NOTE)
}

/** Keys of what does not hold any more. */
async function goneIn(
  { isReset, rows, gone: names }: Collected,
  local: ScopeStore,
): Promise<readonly string[]> {
  const gone = new Set([...names].flatMap((name) => idIn('register', name) ?? []))
  // What all that there is lacks was deleted too.
  for await (const page of isReset ? registerPages(local, '') : [])
    for (const row of page) {
      const there = rows.get(row.key)
      const shown = shownKeyIn(row)
      if (!there) gone.add(row.key)
      if (shown !== undefined && (!there || shownKeyIn(there) !== shown)) gone.add(shown)
    }
  return [...gone]
}

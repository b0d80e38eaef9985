import { emptyAllOwed, OWED, putOwed } from '../../forgetting/owed.ts'
import type { KernelSession } from '../../kernel/feature.ts'
import { messageIn } from '../../kernel/log/bodies.ts'
import { readEntry } from '../../kernel/log/entries.ts'
import { defined } from '../../ports/defined.ts'
import type { Fact, FactInput, FactQuery, Remembered } from '../../ports/fact.ts'
import type { Message, Trust } from '../../ports/message.ts'
import type { Op } from '../../ports/op.ts'
import { PAGE_ROWS } from '../../ports/store.ts'
import { hashText } from '../../text/hash.ts'
import { checkId, checkText, isPlainObject } from '../../text/json.ts'
import { writeAudit } from '../audit.ts'
import { FactNoter, type NotesFacts } from '../slots.ts'
import { isTrusted } from '../trust.ts'
import { checkFactId, checkFactInput } from './check-fact.ts'
import { FACT } from './fact.ts'
import { byRank, comparing, isForAll } from './fact-index.ts'
import type { FactOptions } from './fact-options.ts'
import { topOf } from './fact-scopes.ts'
import { checkQuery, Facts, weighing } from './facts.ts'
import { HandOver } from './hand-over.ts'
import { untold } from './kept.ts'
import { knownFacts } from './known-facts.ts'
import { areNear } from './near-duplicates.ts'
import { noFact } from './read-first.ts'
import { taken } from './remember-fact.ts'

/** Facts that recall looks through: so many pinned ones, and so many others. */
const RECALLED_FACTS = 512

const byId = comparing(() => '')

/**
 * The facts of one session: its own, and those that it shares with the user's other sessions.
 * Nothing is queued here.
 */
export class SessionFacts {
  /** What a context shows of them. */
  readonly known: ReturnType<typeof knownFacts>
  /** The user's own facts and the session's, in this order. */
  readonly scopes: readonly [shared: Facts, own: Facts]
  readonly #session: KernelSession
  readonly #own: Facts
  readonly #shared: Facts
  readonly #handOver: HandOver

  constructor(session: KernelSession, options: FactOptions) {
    const { store, user, memory, project } = session
    this.#session = session
    const common = { ...weighing(memory), ...options, trustOf: (id: string) => this.#trustOf(id) }
    this.#own = new Facts({ ...common, store, isMarked: () => this.#noters.length === 0 })
    this.#shared = new Facts({ ...common, store: user.store, shared: true, guard: () => this.#unforgotten() })
    this.scopes = [this.#shared, this.#own]
    this.#handOver = new HandOver({
      noted: { store, user: user.store, sessionId: session.sessionId, host: memory.host },
      own: this.#own,
      shared: this.#shared,
      leave: () => untold(memory).leave(),
    })
    this.known = knownFacts({
      user: this.#shared,
      session: this.#own,
      store: user.store,
      project,
      now: () => memory.host.now(),
      finish: () => this.#handOver.finish(),
    })
  }

  /**
   * Keeps a fact where it belongs: with the user, if it is a preference or a constraint and the
   * user's word; else with the session.
   */
  async remember(input: FactInput, opId?: string): Promise<Remembered> {
    checkFactInput('remember', '', input)
    const placed = this.#placed(input)
    const isShared = await this.#belongsToUser(placed)
    await this.#refuseTaken(placed, isShared ? this.#own : this.#shared)
    // Sessions name their ops without knowing of each other's.
    if (isShared) return this.#shared.remember(placed, opId === undefined ? opId : this.#nameOf(opId))
    await this.#session.register()
    const remembered = await this.#own.remember(placed, opId)
    // What is this session's, and others note, is not among what waits.
    if (this.#noters.length > 0 && !isForAll(remembered.fact)) await this.#handOver.finish()
    else await this.#handOver.try()
    return remembered
  }

  /** An op of this session among those of its user. */
  #nameOf(opId: string): string {
    return `session/${hashText(JSON.stringify([this.#session.sessionId, checkId('remember', 'opId', opId)]))}`
  }

  /**
   * Remembers what was extracted. All of it stays in this session, for a text that was pasted may
   * pass for the user's word.
   *
   * @returns whether it says something new
   */
  async keep(input: FactInput): Promise<boolean> {
    checkFactInput('remember', '', input)
    const placed = this.#placed(input)
    await this.#refuseTaken(placed, this.#shared)
    if (await this.#shared.says(placed)) return false
    await this.#session.register()
    const { status } = await this.#own.keep(placed)
    await this.#handOver.try()
    return status !== 'known'
  }

  /**
   * What a commit of this session writes of facts. Those to be shared are taken over by
   * {@link tell} after it.
   */
  prepare(
    operation: string,
    inputs: readonly FactInput[],
    messages: readonly Message[],
  ): Promise<{ readonly ops: readonly Op[]; readonly remembered: readonly Remembered[] }> {
    return this.#own.prepare(
      operation,
      inputs.map((input) => this.#placed(input)),
      messages,
    )
  }

  /** Tells the user's scope what was written here; where that fails, it is left for later. */
  async tell(): Promise<void> {
    await this.#handOver.try()
  }

  /**
   * The same of what an end of the process left, or is on its way; with `others`, of the user's
   * other sessions too.
   */
  async settle(others: boolean): Promise<void> {
    await this.#handOver.finish()
    for (const noter of this.#noters) await Promise.all([noter.settle(), others ? noter.gather() : undefined])
  }

  /** Who tells the user's scope of what stays here, where the session need not. */
  get #noters(): readonly NotesFacts[] {
    return this.#session.memory.all(FactNoter)
  }

  /**
   * Facts that a query may find, those that show first. As in a context: what is of another project
   * shows there alone.
   */
  async searchable(): Promise<readonly Fact[]> {
    await this.#handOver.finish()
    const { project, memory } = this.#session
    const now = memory.host.now()
    const [pinned, shown] = await Promise.all([
      topOf(this.scopes, 'pinned', project, RECALLED_FACTS, now),
      topOf(this.scopes, 'shown', project, RECALLED_FACTS, now),
    ])
    // What was shared is in both scopes until its session is done with it.
    return [...new Map([...pinned, ...shown].map(({ fact }) => [fact.id, fact])).values()]
  }

  /** Facts of this session and of its user, in strict order. */
  async list(given: FactQuery = {}): Promise<readonly Fact[]> {
    const { after, ...query } = checkQuery(given)
    await this.#handOver.finish()
    const { first = PAGE_ROWS, project = this.#session.project, all } = query
    const asked = defined({ ...query, first, project })
    const place = after === undefined ? undefined : (await this.#get('facts', after)).fact
    const [shared, own] = await Promise.all([this.#shared.page(asked, place), this.#own.page(asked, place)])
    const ids = new Set(shared.map(({ id }) => id))
    // What was shared is the user's.
    const once = [...shared, ...own.filter(({ id }) => !ids.has(id))]
    return once.sort(all ? byId : byRank).slice(0, Math.min(first, PAGE_ROWS))
  }

  /** A fact of this session or of its user, those that show no more included. */
  async fact(id: string): Promise<Fact | undefined> {
    checkId('fact', 'id', id)
    return (await this.#find(id))?.fact
  }

  /** Changes a fact where it is. @throws ERR_NOT_FOUND, and what `change` throws */
  async change(operation: string, id: string, change: (facts: Facts) => Promise<Fact>): Promise<Fact> {
    const { facts } = await this.#get(operation, id)
    const changed = await change(facts)
    if (facts === this.#own) await this.#handOver.try()
    return changed
  }

  async supersede(id: string, input: FactInput): Promise<Remembered> {
    const { facts, fact } = await this.#get('supersede', id)
    const remembered = await facts.supersede(id, withProject(input, fact.project))
    await this.#handOver.try()
    return remembered
  }

  async promote(id: string, options: { readonly pinned?: boolean } = {}): Promise<Fact> {
    const { facts, fact: before } = await this.#get('promote', id)
    const { user, memory } = this.#session
    const fact = await facts.promote(id, options)
    if (fact.trust !== before.trust || fact.extracted !== before.extracted)
      await writeAudit(user.store, memory.host, { action: 'promote', target: id })
    await this.#handOver.run()
    return fact
  }

  /** Where a fact is. @throws ERR_NOT_FOUND */
  async #get(operation: string, id: string): Promise<{ readonly facts: Facts; readonly fact: Fact }> {
    checkId(operation, 'id', id)
    const found = await this.#find(id)
    if (!found) throw noFact(operation, id)
    return found
  }

  async #find(id: string): Promise<{ readonly facts: Facts; readonly fact: Fact } | undefined> {
    await this.#handOver.finish()
    for (const facts of this.scopes) {
      const fact = await facts.get(id)
      if (fact) return { facts, fact }
    }
    return undefined
  }

  /**
   * What is taken from here to the user was not forgotten here meanwhile: nothing was begun to be
   * forgotten since, and what was begun before is empty here.
   */
  async #unforgotten(): Promise<Op> {
    const { store, user, sessionId, memory } = this.#session
    const { host } = memory
    const row = await user.store.register(OWED)
    if (row) await emptyAllOwed({ store, user: user.store, sessionId, host })
    return putOwed(host, row, {})
  }

  /** What is remembered here is the session's project's, unless it says otherwise. */
  #placed(input: FactInput): FactInput {
    return withProject(input, this.#session.project)
  }

  /**
   * An id names one fact of a session and its user, as far as this can be known. @throws
   * ERR_DUPLICATE_ID
   */
  async #refuseTaken({ id, text }: FactInput, elsewhere: Facts): Promise<void> {
    if (id === undefined) return
    const other = await elsewhere.get(checkFactId('remember', 'id', id))
    if (other && !areNear(other.text, checkText('remember', 'text', text))) throw taken('remember', id)
  }

  /** What is no fact is refused where it is checked. */
  async #belongsToUser({ kind, trust = 'user', sources = [] }: FactInput): Promise<boolean> {
    if (kind !== 'preference' && kind !== 'constraint') return false
    if (!isTrusted(trust) || !Array.isArray(sources)) return false
    const trusts = await Promise.all(
      sources.map(async (source: unknown) =>
        // A source that is not there is refused where the fact is checked.
        typeof source === 'string' ? ((await this.#trustOf(source)) ?? 'user') : 'user',
      ),
    )
    return trusts.every(isTrusted)
  }

  /** Trust of a message or of a fact of the session's own. */
  async #trustOf(id: string): Promise<Trust | undefined> {
    if (id.startsWith(FACT)) return (await this.#own.get(id.slice(FACT.length)))?.trust
    const row = await readEntry(this.#session.store, id)
    return row?.kind === 'message' ? messageIn(row)?.trust : undefined
  }
}

/** A fact in a project, unless it names its own. */
function withProject(input: FactInput, project: string | undefined): FactInput {
  return project === undefined || !isPlainObject(input) || input.project !== undefined
    ? input
    : { ...input, project }
}

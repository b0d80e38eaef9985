import type { Certificate } from '../../ports/certificate.ts'
import type { Counter } from '../../ports/counter.ts'
import { type ErrorCode, isPlimsollError, PlimsollError } from '../../ports/errors.ts'
import type { Host } from '../../ports/host.ts'
import type { Trust } from '../../ports/message.ts'
import { PAGE_ROWS, type ScopeStore } from '../../ports/store.ts'
import { hasBody, messageIn } from '../../kernel/log/bodies.ts'
import { readEntry } from '../../kernel/log/entries.ts'
import { checkFactId } from './check-fact.ts'
import { type FactInput } from '../../ports/fact.ts'
import { FACT, factKey } from './fact.ts'
import { type Fact } from '../../ports/fact.ts'
import { byRank, comparing } from './fact-index.ts'
import type { FactQuery } from '../../ports/fact.ts'
import type { FactOptions } from './fact-options.ts'
import { type FactScope, topOf } from './fact-scopes.ts'
import { Facts } from './facts.ts'
import { areNear } from './near-duplicates.ts'
import type { Remembered } from '../../ports/fact.ts'
import type { PrepareFacts } from './prepare-facts.ts'
import { noFact } from './read-first.ts'
import { taken } from './remember-fact.ts'
import type { Rating } from '../../ports/fact.ts'
import { writeAudit } from '../../operations/audit.ts'
import { certificateOf } from '../../operations/forget/certificate.ts'
import { hashText } from '../../kernel/text/hash.ts'
import { checkId, checkText, invalid, isPlainObject } from '../../kernel/text/json.ts'
import { isTrusted, lowerTrust } from '../../kernel/log/message.ts'
import type { LoadOnDemand } from '../../operations/on-demand.ts'
import { find } from '../recall/find.ts'
import { type Recalled, type RecallOptions } from '../../ports/recall.ts'
import type { Recall } from '../recall/lexical-recall.ts'
import type { SessionIndex } from '../recall/session-index.ts'
import { LoadedSkills } from '../skills/loaded-skills.ts'
import type { StoredSkill } from '../../ports/skill.ts'
import { factTokens } from '../../operations/start/start-items.ts'
import { type RecalledItem } from '../../ports/start.ts'
import type { StartOptions } from '../../ports/start.ts'
import type { SessionStart } from '../../ports/start.ts'
import type { Kept } from './extraction.ts'
import { HandOver } from './hand-over.ts'
import { LongTerm } from './known.ts'
import type { User } from './user.ts'

export interface SessionMemoryParts {
  /** The session's scope. */
  readonly store: ScopeStore
  readonly sessionId: string
  readonly userStore: ScopeStore
  /** Contract: opens another session of the user. */
  readonly open: (sessionId: string) => ScopeStore
  readonly user: User
  readonly counter: Counter
  readonly host: Host
  readonly facts: FactOptions
  readonly recall: Recall | undefined
  /** Whose facts belong here beside those of no project. */
  readonly project: string | undefined
  /** Lists the session with its user, unless it is listed. */
  readonly register: () => Promise<void>
  readonly onDemand: LoadOnDemand
}

export interface ForgetOptions {
  /** Which of the two an id is of. Default: of a message, or of a fact where there is no such message. */
  readonly kind?: 'message' | 'fact'
}

/** What was extracted may be left out: it was forgotten, there is no room, or it says what another one says. */
const PASSABLE: readonly ErrorCode[] = ['ERR_NOT_FOUND', 'ERR_LIMIT', 'ERR_DUPLICATE_ID']
/** It is no fact, and never will be. */
const UNFIT: readonly ErrorCode[] = ['ERR_INVALID_ARGUMENT', 'ERR_ENTRY_TOO_LARGE']
/** Facts that recall looks through: so many pinned ones, and so many others. */
const RECALLED_FACTS = 512

const byId = comparing(() => '')

/** What one session remembers beside its log: its own facts, and what it shares with the user's other sessions. */
export class SessionMemory {
  /** What a context shows of it. */
  readonly longTerm: LongTerm
  readonly #parts: SessionMemoryParts
  readonly #own: Facts
  readonly #shared: Facts
  readonly #handOver: HandOver
  readonly #loaded: LoadedSkills
  #index: SessionIndex | undefined

  constructor(parts: SessionMemoryParts) {
    const { store, userStore, user, counter, host, facts, project, register } = parts
    this.#parts = parts
    const common = {
      host,
      ...facts,
      tokensOf: (fact: Fact) => factTokens(counter, fact),
      trustOf: (id: string) => this.#trustOf(id),
    }
    this.#own = new Facts({ ...common, store })
    this.#shared = new Facts({ ...common, store: userStore, shared: true })
    this.#handOver = new HandOver({ store, own: this.#own, shared: this.#shared })
    this.#loaded = new LoadedSkills({ store, host, register })
    this.longTerm = new LongTerm({
      user: { store: userStore, facts: this.#shared, profile: user.profile, skills: user.skills },
      session: { store, facts: this.#own, loaded: this.#loaded },
      project,
      now: () => host.now(),
      finish: () => this.#handOver.finish(),
    })
  }

  /** Keeps a fact where it belongs: with the user, if it is a preference or a constraint and the user's word; else with the session. */
  async remember(input: FactInput, opId?: string): Promise<Remembered> {
    if (!isPlainObject(input)) throw invalid('remember', 'fact', 'must be an object')
    const placed = this.#placed(input)
    const isShared = await this.#belongsToUser(placed)
    await this.#refuseTaken(placed, isShared ? this.#own : this.#shared)
    // Sessions name their ops without knowing of each other's.
    if (isShared) return this.#shared.remember(placed, opId === undefined ? opId : this.#nameOf(opId))
    await this.#parts.register()
    return this.#own.remember(placed, opId)
  }

  /** An op of this session among those of its user. */
  #nameOf(opId: string): string {
    return `session/${hashText(JSON.stringify([this.#parts.sessionId, checkId('remember', 'opId', opId)]))}`
  }

  /** Remembers what was extracted, whatever becomes of some of it. */
  async keep(inputs: readonly FactInput[]): Promise<Kept> {
    let fresh = 0
    const left: FactInput[] = []
    const errors: unknown[] = []
    for (const input of inputs) {
      try {
        if ((await this.remember(input)).status !== 'known') fresh++
      } catch (error) {
        // What was forgotten stays forgotten, and what has no room is no failure.
        if (isOneOf(error, PASSABLE)) continue
        errors.push(error)
        if (!isOneOf(error, UNFIT)) left.push(input)
      }
    }
    return { fresh, left, errors }
  }

  /** What a commit of this session writes of facts. Those to be shared are taken over by {@link share} after it. */
  readonly prepare: PrepareFacts = (operation, inputs, messages) =>
    this.#own.prepare(
      operation,
      inputs.map((input) => this.#placed(input)),
      messages,
    )

  /** Hands over to the user what is the user's. @throws as {@link HandOver.run} */
  share(): Promise<void> {
    return this.#handOver.run()
  }

  /** Facts of this session and of its user, in strict order. */
  async list(query: FactQuery = {}): Promise<readonly Fact[]> {
    await this.#handOver.finish()
    const { after, first = PAGE_ROWS, ...rest } = query
    const { project = this.#parts.project } = query
    const asked = { ...rest, ...(project !== undefined && { project }) }
    const place = after === undefined ? undefined : await this.#get('facts', after)
    const [shared, own] = await Promise.all([
      this.#shared.page({ ...asked, first }, place?.fact),
      this.#own.page({ ...asked, first }, place?.fact),
    ])
    const ids = new Set(shared.map(({ id }) => id))
    // What was shared is the user's.
    const once = [...shared, ...own.filter(({ id }) => !ids.has(id))]
    return once.sort(asked.all ? byId : byRank).slice(0, Math.min(first, PAGE_ROWS))
  }

  /** A fact of this session or of its user, those that show no more included. */
  async fact(id: string): Promise<Fact | undefined> {
    checkId('fact', 'id', id)
    return (await this.#find(id))?.fact
  }

  async resolve(id: string): Promise<Fact> {
    return (await this.#get('resolve', id)).facts.resolve(id)
  }

  async supersede(id: string, input: FactInput): Promise<Remembered> {
    const { facts, fact } = await this.#get('supersede', id)
    const remembered = await facts.supersede(id, withProject(input, fact.project))
    await this.share().catch(() => {})
    return remembered
  }

  async pin(id: string): Promise<Fact> {
    return (await this.#get('pin', id)).facts.pin(id)
  }

  async unpin(id: string): Promise<Fact> {
    return (await this.#get('unpin', id)).facts.unpin(id)
  }

  async review(id: string, rating: Rating): Promise<Fact> {
    return (await this.#get('review', id)).facts.review(id, rating)
  }

  async promote(id: string, options: { readonly pinned?: boolean } = {}): Promise<Fact> {
    const { facts, fact: before } = await this.#get('promote', id)
    const { userStore, host } = this.#parts
    const fact = await facts.promote(id, options)
    if (fact.trust !== before.trust) await writeAudit(userStore, host, { action: 'promote', target: id })
    await this.share()
    return fact
  }

  /** Forgets a message or a fact, and what derives from it. @throws ERR_NOT_FOUND (there never was one) */
  async forget(id: string, kind?: ForgetOptions['kind']): Promise<Certificate> {
    checkId('forget', 'id', id)
    if (kind !== undefined && kind !== 'message' && kind !== 'fact')
      throw invalid('forget', 'kind', `must be 'message' or 'fact'`)
    const { store, userStore, host } = this.#parts
    const row = kind === 'fact' ? undefined : await readEntry(store, id)
    const isEntry = row?.kind === 'message' || row?.kind === 'summary'
    const key = factKey(id)
    const [own, shared] =
      isEntry || kind === 'message' ? [] : [await store.register(key), await userStore.register(key)]
    if (!isEntry && !own && !shared)
      throw new PlimsollError('ERR_NOT_FOUND', `forget: no ${kind ?? 'message or fact'} ${id}`, { id })
    const targets = {
      rows: isEntry ? [row] : [],
      // In both: what was just shared is in each of them.
      own: own && hasBody(own) ? [key] : [],
      shared: shared && hasBody(shared) ? [key] : [],
    }
    const { sessionId, open, onDemand } = this.#parts
    const parts = { store, sessionId, userStore, open, host }
    const { forget } = await onDemand()
    const { already, found, kept } = await forget(parts, targets, { action: 'forget', target: id })
    return certificateOf(host, 'forget', id, already, found, kept)
  }

  recall(query: string, options: RecallOptions, skip?: ReadonlySet<string>): Promise<readonly Recalled[]> {
    const { project, host } = this.#parts
    // As in a context: what is of another project shows there alone.
    const facts = async () => {
      await this.#handOver.finish()
      const [pinned, shown] = await Promise.all(
        (['pinned', 'shown'] as const).map((list) =>
          topOf(this.#scopes, list, project, RECALLED_FACTS, host.now()),
        ),
      )
      // What was shared is in both scopes until its session is done with it.
      return [...new Map([...(pinned ?? []), ...(shown ?? [])].map((fact) => [fact.id, fact])).values()]
    }
    return this.#search(query, options, facts, skip)
  }

  #search(
    query: string,
    options: RecallOptions,
    facts: () => Promise<readonly Fact[]>,
    skip?: ReadonlySet<string>,
  ): Promise<readonly Recalled[]> {
    const { recall, sessionId, store } = this.#parts
    return find(
      {
        recall,
        sessions: async () => (recall ? [{ sessionId, store, index: this.#indexOf(recall) }] : []),
        facts,
        ...(skip && { skip }),
      },
      query,
      options,
    )
  }

  /** Whether as many words were read that are in no block as fill one. */
  get isUnindexed(): boolean {
    return this.#index?.waits ?? false
  }

  /** Puts words that are not in a block yet into one, as far as they fill it. */
  async indexed(): Promise<void> {
    const { recall } = this.#parts
    if (recall) await this.#indexOf(recall).keep()
  }

  async loadSkill(name: string): Promise<StoredSkill> {
    const skill = await this.#parts.user.skills.get(name)
    if (!skill) throw new PlimsollError('ERR_NOT_FOUND', `loadSkill: no skill ${name}`, { id: name })
    await this.#loaded.load(name)
    return skill
  }

  unloadSkill(name: string): Promise<void> {
    return this.#loaded.unload(name)
  }

  loadedSkills(): Promise<readonly string[]> {
    return this.#loaded.list()
  }

  async start(options: StartOptions): Promise<SessionStart | undefined> {
    const { userStore, user, counter, host, recall, onDemand } = this.#parts
    const { project = this.#parts.project, now = host.now() } = options
    const facts = this.#scopes
    // What is pinned shows anyway.
    const unpinned = () => topOf(facts, 'shown', project, RECALLED_FACTS, now)
    const { startSession } = await onDemand()
    return startSession(
      {
        facts,
        skills: user.skills,
        sums: (groups) => userStore.sums(groups),
        settings: () => user.settings(),
        counter,
        host,
        ...(recall && {
          recall: async (query, first) => (await this.#search(query, { first }, unpinned)).map(itemOf),
        }),
      },
      { ...options, ...(project !== undefined && { project }) },
    )
  }

  get #scopes(): readonly FactScope[] {
    const { store, userStore } = this.#parts
    return [
      { facts: this.#shared, sums: (groups) => userStore.sums(groups) },
      { facts: this.#own, sums: (groups) => store.sums(groups) },
    ]
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
    for (const facts of [this.#shared, this.#own]) {
      const fact = await facts.get(id)
      if (fact) return { facts, fact }
    }
    return undefined
  }

  /** What is remembered here is the session's project's, unless it says otherwise. */
  #placed(input: FactInput): FactInput {
    return withProject(input, this.#parts.project)
  }

  /** An id names one fact of a session and its user, as far as this can be known. @throws ERR_DUPLICATE_ID */
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
      sources.map((source: unknown) => (typeof source === 'string' ? this.#trustOf(source) : undefined)),
    )
    // A source that is not there is refused where the fact is checked.
    return isTrusted(trusts.reduce<Trust>((low, one) => lowerTrust(low, one ?? 'user'), trust))
  }

  /** Trust of a message or of a fact of the session's own. */
  async #trustOf(id: string): Promise<Trust | undefined> {
    if (id.startsWith(FACT)) return (await this.#own.get(id.slice(FACT.length)))?.trust
    const row = await readEntry(this.#parts.store, id)
    return row?.kind === 'message' ? messageIn(row)?.trust : undefined
  }

  #indexOf(recall: Recall): SessionIndex {
    this.#index ??= recall.open(this.#parts.store)
    return this.#index
  }
}

/** A fact in a project, unless it names its own. */
function withProject(input: FactInput, project: string | undefined): FactInput {
  return project === undefined || !isPlainObject(input) || input.project !== undefined
    ? input
    : { ...input, project }
}

function itemOf({ id, role, kind, text, trust }: Recalled): RecalledItem {
  return kind === undefined ? { id, role: role ?? 'user', text, trust } : { id, kind, text, trust }
}

function isOneOf(error: unknown, codes: readonly ErrorCode[]): boolean {
  return codes.some((code) => isPlimsollError(error, code))
}

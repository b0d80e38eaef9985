import { commitDeletes } from '../../forgetting/deletes.ts'
import type { KernelMemory } from '../../kernel/feature.ts'
import { checkReadable } from '../../kernel/log/bodies.ts'
import { decide } from '../../kernel/log/decide.ts'
import { allOrNone, areAccepted, changedByOthers, TRIES } from '../../kernel/log/once.ts'
import { checkOpId } from '../../kernel/log/op-id.ts'
import { sealOp } from '../../kernel/log/seal.ts'
import { defined } from '../../ports/defined.ts'
import type { Fact, FactInput, FactList, FactQuery, Rating, Remembered } from '../../ports/fact.ts'
import type { Host } from '../../ports/host.ts'
import type { Message, Trust } from '../../ports/message.ts'
import type { Name, Op } from '../../ports/op.ts'
import type { ScopeStore } from '../../ports/store.ts'
import { hasBody } from '../../ports/store.ts'
import { checkBoolean, checkList } from '../../text/check-value.ts'
import { hashText } from '../../text/hash.ts'
import { checkCount, checkId, checkOptions, invalid } from '../../text/json.ts'
import { compared } from '../rules.ts'
import { isTrusted } from '../trust.ts'
import { checkFact, checkFactId, checkFactInput } from './check-fact.ts'
import { type FactRow, factIn, factKey } from './fact.ts'
import { factTokens } from './fact-item.ts'
import { readFacts, readTop } from './fact-lists.ts'
import type { FactOptions } from './fact-options.ts'
import { FactPlan } from './fact-plan.ts'
import { areNear } from './near-duplicates.ts'
import { placeFact } from './place-fact.ts'
import { noFact, readFirst } from './read-first.ts'
import { type RememberParts, rememberIn } from './remember-fact.ts'
import { doubling, reviewed } from './review.ts'

/** What the facts of a scope are made of. */
export interface FactsParts extends FactOptions {
  readonly store: ScopeStore
  readonly host: Host
  /**
   * Whether this is a user's own scope, which all of the user's sessions share: then only facts of
   * trust `user` or above are taken.
   */
  readonly shared?: boolean
  /**
   * Contract: whether a write is marked as one that the user's scope is to be told of. Default:
   * always, but in a user's own scope.
   */
  readonly isMarked?: () => boolean
  /**
   * Contract: asked before each try, and before what is written is checked: an op of which only the
   * base is compared, so that nothing is written where what it names changed since. Default: none.
   */
  readonly guard?: () => Promise<Op>
  /** Contract: what a fact takes in a session's start, a whole number. */
  readonly tokensOf: (fact: Fact) => number
  /** Id of the counter by which it does. */
  readonly counter: string
  /** Contract: the trust of a session's message; undefined where there is none. */
  readonly trustOf: (id: string) => Promise<Trust | undefined>
}

/** Of a fact that is looked for and never written. */
const DRAFT = { id: 'draft', now: 0 }
/** Facts that one commit may hold. */
const MOST_AT_ONCE = 64

/**
 * The facts of one scope: a session's, or a user's own. Its writes run one after the other, in the
 * order in which they were made.
 */
export class Facts {
  readonly #parts: FactsParts
  #queue: Promise<unknown> = Promise.resolve()

  constructor(parts: FactsParts) {
    this.#parts = parts
  }

  /**
   * Keeps a fact. One that says what a live fact of the same kind and project says already does not
   * stand beside it:
   * - of the same trust, it is merged into that one, which keeps its id (`merged`), or says nothing
   *   new (`known`);
   * - of lower trust, it changes nothing (`known`), for nobody less trusted may touch what the user
   *   said;
   * - of higher trust, it supersedes that one (`new`).
   *
   * These are looked up by hashes of their words, so one in twenty of those that differ by a word
   * or two is missed. The same `id` again with the same words is `known` too. Durable when it
   * resolves.
   *
   * @param opId repeating it gives the first result. Default: fresh
   * @throws ERR_INVALID_ARGUMENT (a fact of low trust that is pinned, shared, or to supersede one
   * of higher trust, included), ERR_ENTRY_TOO_LARGE (above 2 KiB), ERR_NOT_FOUND (a source or what
   * is superseded; or the fact was forgotten), ERR_DUPLICATE_ID (other words under that id),
   * ERR_LIMIT, ERR_CONFLICT (superseded already, or changed by others eight times in a row);
   * nothing is written
   */
  remember(input: FactInput, opId?: string): Promise<Remembered> {
    return this.#remember('remember', input, opId)
  }

  /**
   * Keeps what was extracted, as {@link remember} does: it is never handed over and changes nothing
   * that somebody asked for, until it is promoted. @throws as {@link remember}
   */
  keep(input: FactInput): Promise<Remembered> {
    return this.#remember('remember', input, undefined, true)
  }

  /** Whether a live fact says the same, of the same kind and project. */
  async says({ kind, text, project }: Pick<FactInput, 'kind' | 'text' | 'project'>): Promise<boolean> {
    const draft = checkFact('remember', '', defined({ kind, text, project }), DRAFT)
    return (await this.#plan().twinOf({ ...draft, pinned: false, confidence: 1 })) !== undefined
  }

  /**
   * What remembering these would write, for a commit together with others; at most 64. A conflict
   * of that commit means: prepare again.
   *
   * @param messages what is written in the same commit, and so may be named as a source
   * @throws as {@link remember}
   */
  async prepare(
    operation: string,
    inputs: readonly FactInput[],
    messages: readonly Message[] = [],
  ): Promise<{ readonly ops: readonly Op[]; readonly remembered: readonly Remembered[] }> {
    checkList(operation, 'facts', inputs, MOST_AT_ONCE)
    const { host, caps = {} } = this.#parts
    const plan = this.#plan()
    const remembered: Remembered[] = []
    for (const [index, input] of inputs.entries()) {
      checkFactInput(operation, `facts[${index}]`, input)
      const given = this.#given(host.newId(), messages)
      remembered.push(await rememberIn(plan, operation, `facts[${index}]`, input, given))
    }
    return { ops: await plan.ops(operation, caps, () => host.newId()), remembered }
  }

  /**
   * A fact, superseded, resolved and ended ones included; undefined where there is none, or it was
   * forgotten. @throws ERR_DECRYPT
   */
  async get(id: string): Promise<Fact | undefined> {
    const row = checkReadable(await this.#parts.store.register(factKey(checkFactId('get', 'id', id))))
    return row && factIn(row)
  }

  /**
   * A page of at most 512 facts, the live ones in the strict order in which they show: priority,
   * strength, confidence, the newest first. Only an empty page is the last one.
   *
   * @throws ERR_INVALID_ARGUMENT, ERR_NOT_FOUND (no fact `after`)
   */
  async list(query: FactQuery = {}): Promise<readonly Fact[]> {
    const { after } = checkQuery(query)
    if (after === undefined) return this.page(query)
    const from = await this.get(after)
    if (!from) throw noFact('list', after)
    return this.page(query, from)
  }

  /** As {@link list}, after a fact that may be another scope's. */
  async page(query: Omit<FactQuery, 'after'>, from?: Fact): Promise<readonly Fact[]> {
    const { first, project, kinds } = query
    if (kinds !== undefined) checkList('list', 'kinds', kinds)
    if (first !== undefined) checkCount('list', 'first', first)
    if (project !== undefined) checkId('list', 'project', project)
    return readFacts(this.#parts.store, query, from, this.#parts.host.now())
  }

  /**
   * The first facts of one list, at most 512: those without a project and those of `project`
   * together, in the list's order. Ended ones are left out, and of `due` those that are due after
   * the UTC day of `now`.
   *
   * @param now Unix milliseconds, as precise as its UTC day
   */
  top(list: FactList, project: string | undefined, first: number, now: number): Promise<readonly FactRow[]> {
    return readTop(this.#parts.store, list, project, first, now)
  }

  /** As `ScopeStore.sums` of its scope. */
  sums(groups: readonly string[]): ReturnType<ScopeStore['sums']> {
    return this.#parts.store.sums(groups)
  }

  /**
   * Takes over a fact of another scope, as {@link remember} would if it were said here; where its
   * id names another fact here, under another one. Idempotent.
   *
   * @param isThere Contract: whether the other scope still has it; asked before each try
   * @throws ERR_INVALID_ARGUMENT (its trust is too low to be shared), ERR_LIMIT, ERR_CONFLICT,
   * ERR_NOT_FOUND (it was forgotten here, or there)
   */
  adopt(fact: Fact, isThere: () => Promise<boolean> = async () => true): Promise<Fact> {
    return this.#enqueue(() => {
      if (this.#parts.shared && !isTrusted(fact.trust))
        throw invalid('promote', 'id', `names a fact of trust ${fact.trust}, which is not shared`)
      return this.#write('promote', fact.id, undefined, async (plan) => {
        if (!(await isThere())) throw noFact('promote', fact.id)
        const origin = factKey(fact.id)
        let own = fact
        for (let place = 0; ; place++) {
          const before = await plan.get(own.id)
          if (before === null) throw noFact('promote', own.id)
          if (!before) return (await placeFact(plan, own, origin)).fact
          if (areNear(before.text, fact.text)) return before
          const id = `adopted/${hashText(JSON.stringify([fact.id, fact.createdAt, place]))}`
          own = { ...fact, id, sources: [...fact.sources, origin] }
        }
      })
    })
  }

  /**
   * Takes a fact off the lists, for one of another scope that stands for it now. Idempotent.
   * @throws ERR_NOT_FOUND, ERR_CONFLICT
   */
  retire(id: string, by: string): Promise<Fact> {
    const from = `user:${factKey(by)}` as const
    return this.#change(
      'promote',
      id,
      (fact) => having(fact, { supersededBy: fact.supersededBy ?? by }),
      from,
    )
  }

  /**
   * Marks a blocker as out of the way. Idempotent. @throws ERR_NOT_FOUND, ERR_INVALID_ARGUMENT (no
   * blocker), ERR_CONFLICT
   */
  resolve(id: string): Promise<Fact> {
    return this.#change('resolve', id, (fact) => {
      if (fact.kind !== 'blocker')
        throw invalid('resolve', 'id', `names a ${fact.kind}, only blockers are resolved`)
      return having(fact, { status: 'resolved' })
    })
  }

  /**
   * Puts a new fact in place of one, which shows no more unless it is asked for. @throws as
   * {@link remember}
   */
  supersede(id: string, input: FactInput): Promise<Remembered> {
    return this.#remember('supersede', { ...input, supersedes: id }, undefined)
  }

  /**
   * Idempotent. @throws ERR_NOT_FOUND, ERR_INVALID_ARGUMENT (its trust is below `user`: promote
   * it), ERR_CONFLICT
   */
  pin(id: string): Promise<Fact> {
    return this.#change('pin', id, (fact) => {
      if (!isTrusted(fact.trust))
        throw invalid('pin', 'id', `names a fact of trust ${fact.trust}: promote it`)
      return having(fact, { pinned: true })
    })
  }

  /** Idempotent. @throws ERR_NOT_FOUND, ERR_CONFLICT */
  unpin(id: string): Promise<Fact> {
    return this.#change('unpin', id, (fact) => having(fact, { pinned: false }))
  }

  /**
   * Notes how well a fact held; the schedule says when it is due again. @throws ERR_NOT_FOUND,
   * ERR_INVALID_ARGUMENT, ERR_ENTRY_TOO_LARGE (the schedule's state is above 1 KiB), ERR_CONFLICT
   */
  review(id: string, rating: Rating): Promise<Fact> {
    const { host, schedule = doubling } = this.#parts
    return this.#change('review', id, (fact) => reviewed(fact, rating, host.now(), schedule))
  }

  /**
   * Raises a fact to trust `user`, on the word of the caller: it may be pinned then, and
   * says what its trust was before. One that was extracted counts as asked for from then on.
   *
   * @param options.pinned whether it is pinned from now on. Default: as it was
   * @throws ERR_NOT_FOUND, ERR_CONFLICT
   */
  async promote(id: string, options: { readonly pinned?: boolean } = {}): Promise<Fact> {
    checkOptions('promote', 'options', options, ['pinned'])
    const { pinned } = options
    if (pinned !== undefined) checkBoolean('promote', 'pinned', pinned)
    return this.#change('promote', id, (fact) => {
      const raised = !isTrusted(fact.trust) && { trust: 'user' as const, promotedFrom: fact.trust }
      const { extracted, ...asked } = fact
      return having(extracted ? asked : fact, { pinned: pinned ?? fact.pinned, ...raised })
    })
  }

  /**
   * Empties a fact and what was derived from it, for ever. Idempotent. @throws ERR_NOT_FOUND (there
   * never was one)
   */
  forget(id: string): Promise<void> {
    return this.#enqueue(async () => {
      const { store, host, shared } = this.#parts
      const key = factKey(checkFactId('forget', 'id', id))
      const row = await store.register(key)
      if (!row) throw noFact('forget', id)
      if (!hasBody(row)) return
      const target = `register:${key}` as const
      if (shared) await store.commit([sealOp({ kind: 'delete', opId: host.newId(), target })], decide)
      else await commitDeletes(store, host, [target])
    })
  }

  #remember(
    operation: string,
    input: FactInput,
    opId: string | undefined,
    extracted = false,
  ): Promise<Remembered> {
    return this.#enqueue(async () => {
      const { host } = this.#parts
      checkFactInput(operation, '', input)
      const id = opId === undefined ? host.newId() : `op/${hashText(checkOpId(operation, 'opId', opId))}`
      const first = opId !== undefined && (await readFirst(operation, this.#parts.store, opId))
      if (first) return { fact: first, status: first.id === (input.id ?? id) ? 'new' : 'merged' }
      return this.#write(operation, input.id ?? id, opId, (plan) =>
        rememberIn(plan, operation, '', input, { ...this.#given(id), extracted }),
      )
    })
  }

  #change(operation: string, id: string, change: (fact: Fact) => Fact, from?: Name): Promise<Fact> {
    return this.#enqueue(() =>
      this.#write(operation, checkFactId(operation, 'id', id), undefined, async (plan) => {
        const before = await plan.get(id)
        if (!before) throw noFact(operation, id)
        const after = change(before)
        if (after !== before) plan.put(after, from)
        return after
      }),
    )
  }

  /** Compare-and-set over all that a plan touches. */
  async #write<Result extends Fact | Remembered>(
    operation: string,
    id: string,
    opId: string | undefined,
    change: (plan: FactPlan) => Promise<Result>,
  ): Promise<Result> {
    const { store, host, caps = {}, guard } = this.#parts
    for (let attempt = 0; attempt < TRIES; attempt++) {
      const unchanged = guard && (await guard())
      const plan = this.#plan()
      const result = await change(plan)
      const main = 'fact' in result ? result.fact.id : result.id
      const ops = await plan.ops(operation, caps, (fact) => (fact.id === main && opId) || host.newId())
      if (ops.length === 0) return result
      const results = await store.commit(
        [...ops, ...(unchanged ? [unchanged] : [])].map((op) => sealOp(op)),
        unchanged ? compared : allOrNone,
      )
      if (areAccepted(results)) return result
    }
    throw changedByOthers(operation, `fact ${id}`, { id })
  }

  #plan(): FactPlan {
    const { store, host, tokensOf, counter, shared = false, isMarked = () => !shared } = this.#parts
    return new FactPlan(store, { now: host.now(), shared, tokensOf, counter }, isMarked())
  }

  #given(id: string, messages: readonly Message[] = []): RememberParts {
    const { trustOf } = this.#parts
    const trusts = new Map(messages.map(({ id, trust }) => [id, trust]))
    return { id, trustOf: async (id) => trusts.get(id) ?? trustOf(id) }
  }

  #enqueue<Value>(run: () => Promise<Value>): Promise<Value> {
    const result = this.#queue.then(run)
    this.#queue = result.catch(() => {})
    return result
  }
}

/** @throws ERR_INVALID_ARGUMENT */
export function checkQuery(query: FactQuery): FactQuery {
  checkOptions('list', 'query', query, ['kinds', 'project', 'all', 'first', 'after'])
  return query
}

/** What facts are weighed by. */
export function weighing({
  host,
  policy: { counter },
}: KernelMemory): Pick<FactsParts, 'host' | 'tokensOf' | 'counter'> {
  return { host, tokensOf: (fact) => factTokens(counter, fact), counter: counter.id }
}

/** A fact with these fields; the same object, where it has them. */
function having(fact: Fact, fields: Partial<Fact>): Fact {
  const isSame = Object.entries(fields).every(([name, value]) => fact[name as keyof Fact] === value)
  return isSame ? fact : { ...fact, ...fields }
}

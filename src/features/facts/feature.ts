import type {
  Feature,
  KernelSession,
  KernelUser,
  RegisterKind,
  WriteDraft,
  WritePart,
} from '../../kernel/feature.ts'
import { lowerTrust } from '../../kernel/log/message.ts'
import { provide } from '../../kernel/slot.ts'
import type { Fact, FactInput, FactQuery, Rating, Remembered } from '../../ports/fact.ts'
import type { Json } from '../../ports/message.ts'
import type { Op } from '../../ports/op.ts'
import { checkFunction, checkList } from '../../text/check-value.ts'
import { checkCount, checkOptions } from '../../text/json.ts'
import { deleted } from '../register.ts'
import { laneOf } from '../sizes.ts'
import { Extracted, FactLists, Searchable, UserFactLists } from '../slots.ts'
import { isTrusted } from '../trust.ts'
import { checkStoredFact } from './check-fact.ts'
import { FACT } from './fact.ts'
import { placesOf } from './fact-index.ts'
import type { FactOptions } from './fact-options.ts'
import { sumFacts, topOf } from './fact-scopes.ts'
import { type FactSizes, headPart, newsSince, stillHolds } from './fact-sections.ts'
import { Facts, weighing } from './facts.ts'
import { emptyAllShared } from './forget-shared.ts'
import { untold } from './kept.ts'
import type { Known } from './known-facts.ts'
import { LIVE } from './live.ts'
import { SessionFacts } from './session-facts.ts'

export interface FactsOptions extends FactOptions {
  /** Most tokens of pinned facts in a context. Default: a sixteenth of the cap. */
  readonly pinnedTokens?: number
  /** Most tokens of other facts. Default: a sixteenth of the cap. */
  readonly tokens?: number
  /**
   * Most tokens of facts that are newer than the epoch, in the tail. Default: a thirty-second of
   * the cap.
   */
  readonly newsTokens?: number
}

/**
 * What a session remembers: facts of its own, and those that it shares with the user's other
 * sessions.
 */
export interface FactsApi {
  /**
   * Keeps a fact, as {@link UserFacts.remember} says. What the user prefers or forbids, in the
   * user's own words, is kept with the user and shown in all sessions; anything else is this
   * session's. It is in the tail of the very next context, and in its frozen head from the next
   * epoch on.
   *
   * @param options.opId repeating it gives the first result. Default: fresh
   * @throws as {@link UserFacts.remember}; nothing is written
   */
  remember(input: FactInput, options?: { readonly opId?: string }): Promise<Remembered>
  /**
   * Facts of this session and of its user, the live ones in the order in which they show; at most
   * 512. @throws as {@link UserFacts.list}
   */
  list(query?: FactQuery): Promise<readonly Fact[]>
  /**
   * One of them, superseded, resolved and ended ones included; undefined where there is none, or it
   * was forgotten. @throws ERR_INVALID_ARGUMENT
   */
  get(id: string): Promise<Fact | undefined>
  /** Marks a blocker as out of the way. Idempotent. @throws as {@link UserFacts.resolve} */
  resolve(id: string): Promise<Fact>
  /**
   * Puts a new fact in place of one, which shows no more unless it is asked for. @throws as
   * {@link UserFacts.remember}
   */
  supersede(id: string, input: FactInput): Promise<Remembered>
  /**
   * Raises a fact to trust `user` on the word of the caller, so never call it because a model says
   * so. A preference or a constraint, one that was extracted too, is shared with all of the user's
   * sessions from then on.
   *
   * @throws as {@link UserFacts.promote}
   */
  promote(id: string, options?: { readonly pinned?: boolean }): Promise<Fact>
  /**
   * Makes a fact part of the system section of every context, as far as there is room. @throws as
   * {@link UserFacts.pin}
   */
  pin(id: string): Promise<Fact>
  /** Takes it out of the system section. @throws as {@link UserFacts.unpin} */
  unpin(id: string): Promise<Fact>
  /**
   * Notes how well a fact held, so that it is due again later. @throws as {@link UserFacts.review}
   */
  review(id: string, rating: Rating): Promise<Fact>
}

/**
 * The facts of a user, which all of the user's sessions share: preferences and constraints of trust
 * `user` or above.
 */
export type UserFacts = Pick<
  Facts,
  'remember' | 'list' | 'get' | 'resolve' | 'supersede' | 'promote' | 'pin' | 'unpin' | 'review' | 'adopt'
>

export interface FactsShape {
  readonly api: FactsApi
  readonly user: UserFacts
  readonly commit: readonly FactInput[]
  /** What became of each fact, in order. Of a repeated commit: those that are still known. */
  readonly outcome: readonly Remembered[]
}

const FACT_OPTIONS = ['pinnedTokens', 'tokens', 'newsTokens', 'caps', 'schedule']
const PINNED_SHARE = 1 / 16
const SHARE = 1 / 16
const NEWS_SHARE = 1 / 32

/**
 * What is remembered beside the log, with kinds, trust and review: findings, blockers, corrections,
 * preferences, constraints; at most 2 KiB each. Adds `session.facts`, `memory.user(…).facts` and
 * `commit({ facts })`. Pinned facts stand in the system text, others in the memory section, and
 * those that are newer than the epoch in the tail.
 *
 * @throws ERR_INVALID_ARGUMENT, an unknown option included
 */
export function facts(options: FactsOptions = {}): Feature<'facts', FactsShape> {
  checkOptions('facts', 'options', options, FACT_OPTIONS)
  const { pinnedTokens, tokens, newsTokens, ...kept } = options
  const { caps = {}, schedule } = kept
  if (schedule !== undefined) checkFunction('facts', 'schedule', schedule)
  checkOptions('facts', 'caps', caps, ['facts', 'perHour'])
  for (const [name, cap] of Object.entries(caps))
    if (cap !== undefined && cap !== Infinity) checkCount('facts', `caps.${name}`, cap)
  const userFacts = ({ store, memory }: KernelUser): Facts =>
    new Facts({ store, ...weighing(memory), ...kept, shared: true, trustOf: async () => undefined })
  return {
    name: 'facts',
    registers: [registerOf(kept)],
    ...laneOf('facts', { pinnedTokens, tokens, newsTokens }),
    provides: [provide(UserFactLists, (user) => userFacts(user).list())],
    user: userFacts,
    memory: (memory) => {
      const pass = untold(memory)
      return { nextWorkAt: async () => pass.nextAt(), runDueWork: () => pass.run() }
    },
    open: (session) => {
      const all = new SessionFacts(session, kept)
      const { cap } = session.policy
      const sizes: FactSizes = {
        pinned: pinnedTokens ?? Math.floor(cap * PINNED_SHARE),
        others: tokens ?? Math.floor(cap * SHARE),
        news: newsTokens ?? Math.floor(cap * NEWS_SHARE),
      }
      return {
        api: apiOf(session, all),
        provides: [
          provide(Searchable, { read: () => all.searchable() }),
          provide(Extracted, (fact) => all.keep(fact)),
          provide(FactLists, {
            top: (...asked) => topOf(all.scopes, ...asked),
            sums: (...asked) => sumFacts(all.scopes, ...asked),
            settle: (others) => all.settle(others),
          }),
        ],
        settle: () => emptyAllShared(session.user.store, session.memory.host),
        write: writeOf(session, all),
        show: {
          read: all.known,
          holds: (frozen, state, hash) => stillHolds(frozen, state as Known, hash),
          head: (state, ask) => headPart(state as Known, sizes, ask),
          since: (frozen, state, count) => newsSince(frozen, state as Known, sizes.news, count),
        },
      }
    },
  }
}

function apiOf(session: KernelSession, all: SessionFacts): FactsApi {
  const run = session.run.bind(session)
  const change = (operation: string, id: string, change: (facts: Facts) => Promise<Fact>): Promise<Fact> =>
    run(() => all.change(operation, id, change))
  return {
    remember: (input, options = {}) =>
      run(async () => {
        checkOptions('remember', 'options', options, ['opId'])
        return all.remember(input, options.opId)
      }),
    list: (query) => run(() => all.list(query)),
    get: (id) => run(() => all.fact(id)),
    resolve: (id) => change('resolve', id, (facts) => facts.resolve(id)),
    supersede: (id, input) => run(() => all.supersede(id, input)),
    promote: (id, options) => run(() => all.promote(id, options)),
    pin: (id) => change('pin', id, (facts) => facts.pin(id)),
    unpin: (id) => change('unpin', id, (facts) => facts.unpin(id)),
    review: (id, rating) => change('review', id, (facts) => facts.review(id, rating)),
  }
}

function writeOf({ store }: KernelSession, all: SessionFacts): WritePart<FactsShape> {
  return {
    check: async (operation, given) => {
      checkList(operation, 'facts', given)
      return given.length === 0 ? undefined : given
    },
    prepare: async (inputs: readonly FactInput[], draft) => {
      try {
        const { ops, remembered } = await all.prepare(draft.operation, inputs, draft.messages)
        const named = namedIn(draft, ops)
        return {
          ops: named,
          refuse: async (results) => {
            for (const [index, { status }] of results.entries()) {
              const op = named[index]
              // That a fact was forgotten meanwhile is seen when it is prepared again: another one
              // of its words need not be refused.
              if (status === 'rejected' && op?.kind === 'put' && !(await store.register(op.key)))
                throw deleted(draft.operation, op.key)
            }
          },
          outcome: (repeated) =>
            repeated ? remembered.filter(({ status }) => status === 'known') : remembered,
        }
      } catch (error) {
        // What was remembered once may be refused now, for example because it supersedes what it
        // superseded.
        draft.part('fact/0')
        if (!(await draft.isWritten())) throw error
        return { ops: [], isWritten: true, outcome: () => [] }
      }
    },
    after: async ({ outcome }) => {
      if (outcome && outcome.length > 0) await all.tell()
    },
  }
}

/**
 * Ops under names that are made from the commit's, so that they are the same when it is repeated.
 */
function namedIn(draft: WriteDraft, ops: readonly Op[]): readonly Op[] {
  const names = new Map(ops.map((op, index) => [op.opId, draft.part(`fact/${index}`)]))
  return ops.map((op) => ({
    ...op,
    opId: names.get(op.opId) as string,
    // One of them may be written over another.
    ...(op.kind === 'put' && { base: names.get(op.base ?? '') ?? op.base }),
  }))
}

function registerOf({ caps = {} }: FactOptions): RegisterKind {
  const { facts: most = Number.POSITIVE_INFINITY } = caps
  return {
    prefix: FACT,
    part: 'facts',
    owners: ['user', 'session'],
    check: (operation, name, value, owner) =>
      checkStoredFact(operation, name, value, owner === 'user') as unknown as Json,
    index: (_, value, { owner, memory }) => {
      const { host, ...weighed } = weighing(memory)
      return placesOf(value as unknown as Fact, { now: host.now(), shared: owner === 'user', ...weighed })
    },
    lowered: (value, most, owner) => {
      const fact = value as unknown as Fact
      const trust = lowerTrust(fact.trust, most)
      if (trust === fact.trust) return value
      if (owner === 'user' && !isTrusted(trust)) return undefined
      return { ...fact, pinned: fact.pinned && isTrusted(trust), trust } as unknown as Json
    },
    ...(Number.isFinite(most) && { room: { group: LIVE, most } }),
  }
}

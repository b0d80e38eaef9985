import type { Scope } from '../ports/op.ts'
import {
  type Confirmations,
  PUSH_OPS,
  PUSH_UNITS,
  type PullAnswer,
  type PullRequest,
  type PushAnswer,
  type PushRejection,
  type PushRequest,
  type SyncOp,
} from '../ports/sync.ts'
import type { KeepLocal } from './keep-local.ts'
import { newPace } from './pace.ts'
import type { Replica } from './replica.ts'
import {
  mayDiffer,
  NO_GENERATION,
  type Refusal,
  type ReplicaState,
  type Waiting,
  type Wanted,
} from './state.ts'
import { newTok } from './tok.ts'
import type { View } from './view.ts'

/** How much of a push is still free. */
export interface Room {
  ops: number
  units: number
}

/** What a step brought. */
export interface Step {
  readonly hasMoved: boolean
  /** Ops that are refused from now on. */
  readonly refused: readonly Waiting[]
}

/** Most stretches of seqs that a pull says it knows. */
const MOST_KNOWN = 512

/** Most ops that are sent before the home's log is asked for. */
const MOST_ACKS = 4 * PUSH_OPS

const NOTHING: Step = { hasMoved: false, refused: [] }

/**
 * What one scope has to say to its home, and hears from it. What it keeps in memory are hints: it
 * is right without them, too.
 */
export class ScopeSync {
  readonly scope: Scope
  readonly replica: Replica
  readonly pace = newPace()
  /** Who has it open or follows it. */
  uses = 1
  /** Since when it is due. */
  since = 0
  /**
   * How often each became due, and how often it was when that was last done: it may become due
   * while an answer is under way that does not tell of it.
   */
  #pushes = 1
  #pushed = 0
  #pulls = 1
  #pulled = 0
  /** Of {@link #pulls}, as the last request left. */
  #asked = 0
  /** Seqs at which the home accepted what still waits, by op; and what it refused. */
  readonly #acks = new Map<string, number>()
  readonly #refusals = new Map<string, Refusal>()
  /** Ops that still wait though the log came past where the home accepted them. */
  readonly #lost = new Set<string>()
  /** Ops that were at home before: another writer's of their names, for all that is known. */
  readonly #repeated = new Set<string>()
  /** Of the log from which those are. */
  #generation: string | undefined
  /** The home was asked, and has no log. */
  #isFirst = false
  /** Ops of the home's are to be sent whole: one that it only named is not here. */
  #isWhole = false
  /** The home did not know the place, and nothing has come of it since. */
  #wasReset = false
  /** Ops that a push was chosen from; and of these, once it is taken, those that were not in it. */
  #open = 0
  #unsent = 0
  /** Attachments that the home asked for; what it was sent of them; and what no op waits for. */
  #lacks: readonly string[] = []
  readonly #sent = new Set<string>()
  readonly #without = new Set<string>()
  /** Attachments that the home did not give, for whatever reason. */
  readonly #failed = new Set<string>()
  /** Whether this is to fetch attachments at all. */
  mayFetch = true
  /** What the home told last of its replicas. */
  confirmations: Confirmations = {}
  /** Most ops of a push: one that cannot be sent is not to block others. */
  #most = PUSH_OPS
  /** Of a session, which part of its log is to be here. Absent: all of it. */
  readonly keep: KeepLocal | undefined
  /** The home is to tell again of all that is here. */
  isPartial = false
  /** What is older was read: it stays for now. */
  isWide = false

  constructor(scope: Scope, replica: Replica, keep?: KeepLocal) {
    this.scope = scope
    this.replica = replica
    if (scope.sessionId !== undefined) this.keep = keep
  }

  get isDue(): boolean {
    return this.isPullDue || this.isPushDue || this.wanted !== undefined
  }

  /** Whether more is to be sent first, since one answer may tell of it all. */
  get isSending(): boolean {
    return this.#unsent > 0 && this.#acks.size < MOST_ACKS
  }

  /** Something may wait here. */
  get isPushDue(): boolean {
    return this.#pushes > this.#pushed
  }

  set isPushDue(isDue: boolean) {
    if (isDue) this.#pushes++
    else this.#pushed = this.#pushes
  }

  /** An attachment that is to be fetched next. */
  get wanted(): Wanted | undefined {
    return this.mayFetch ? this.replica.seen?.wanted.find(({ wants }) => !this.#failed.has(wants)) : undefined
  }

  /** All that is wanted may be fetched, though it failed before. */
  fetchAgain(): void {
    this.mayFetch = true
    this.#failed.clear()
  }

  /** It is left for later, so that nothing else waits for it. */
  unfetchable({ wants }: Wanted): void {
    this.#failed.add(wants)
  }

  /** What is to be sent before the next push. */
  get lacks(): readonly string[] {
    return this.#lacks
  }

  get generation(): string {
    return this.replica.seen?.state.generation ?? NO_GENERATION
  }

  /** @param isThere not where it is not here, or the home has deleted it: no op waits for it */
  supplied(id: string, isThere: boolean): void {
    this.#lacks = this.#lacks.filter((one) => one !== id)
    this.#sent.add(id)
    if (!isThere) this.#without.add(id)
  }

  /** The home never takes an attachment: nor what names it. */
  unsuppliable(id: string, rejected: PushRejection): void {
    const left = new Set<string>()
    for (const { envelope } of this.replica.seen?.waiting ?? [])
      if (envelope.attachments?.includes(id)) this.#refusals.set(envelope.opId, { rejected })
      else for (const one of envelope.attachments ?? []) left.add(one)
    this.#lacks = this.#lacks.filter((one) => left.has(one))
    this.isPullDue = true
  }

  /** Something may have changed at home. */
  get isPullDue(): boolean {
    return this.#pulls > this.#pulled
  }

  set isPullDue(isDue: boolean) {
    if (isDue) this.#pulls++
    else this.#pulled = this.#pulls
  }

  /**
   * What is to be pushed; nothing, where nothing can be now. What it takes is taken from the room.
   */
  async pushRequest(room: Room): Promise<PushRequest | undefined> {
    const pushes = this.#pushes
    this.#unsent = 0
    let view = await this.#look()
    const open = view.waiting.filter(
      ({ envelope: { opId } }) => !this.#acks.has(opId) && !this.#refusals.has(opId),
    )
    if (open.length === 0) this.#pushed = pushes
    // A home is asked for its log before anything is sent to it.
    const isUnasked = view.state.generation === undefined && !this.#isFirst
    this.isPullDue ||= isUnasked && open.length > 0
    if (isUnasked || open.length === 0) return undefined
    // A log that has no name yet gets it here, so that its erase is known by it ever after.
    if (view.state.generation === undefined) {
      if (!(await this.replica.begin(view, newTok()))) return undefined
      view = await this.#look()
    }
    const { generation = NO_GENERATION, erasing } = view.state
    const held = await this.replica.held(open.slice(0, erasing ? 1 : Math.min(this.#most, room.ops)))
    // It has moved on.
    if (!held) await this.replica.view()
    const ops: SyncOp[] = []
    for (const { op } of held ?? []) {
      const { envelope, bodies, beside } = op
      const units = unitsOf(op)
      if (units > room.units && (ops.length > 0 || room.units < PUSH_UNITS)) break
      room.units -= units
      room.ops--
      ops.push({ envelope, bodies, ...(beside && { beside }) })
    }
    this.#open = open.length
    const named = new Set(ops.flatMap(({ envelope }) => envelope.attachments ?? []))
    const without = [...named].filter((id) => this.#without.has(id))
    return ops.length > 0 ? { generation, ops, ...(without.length > 0 && { without }) } : undefined
  }

  async pushed({ generation, ops }: PushRequest, answer: PushAnswer): Promise<Step> {
    this.isPullDue = true
    if ('erased' in answer) {
      const hasMoved = await this.replica.erased(generation, answer.generation)
      return { hasMoved, refused: [] }
    }
    const { state } = await this.#look()
    this.#isFirst = false
    // A home that is another one by now tells so when it is asked for its log.
    if (state.generation !== generation || answer.generation !== generation) return NOTHING
    this.#most = Math.min(PUSH_OPS, 2 * this.#most)
    let isNews = false
    ops.forEach(({ envelope: { opId } }, index) => {
      const result = answer.results[index]
      if (!result) return
      // Sent again and again, it would be answered again and again.
      isNews ||= !this.#lost.has(opId)
      if (answer.repeated?.includes(index)) this.#repeated.add(opId)
      if ('seq' in result) this.#acks.set(opId, result.seq)
      else this.#refusals.set(opId, result)
      // It came before all that is here: only what the log comes to there can tell that it did.
      if ('seq' in result && result.seq <= (state.after ?? 0)) this.isPartial = true
    })
    if (answer.results.length === ops.length) this.#unsent = this.#open - ops.length
    // No home is given what it was not told of.
    const named = new Set(
      ops.slice(answer.results.length).flatMap(({ envelope }) => envelope.attachments ?? []),
    )
    this.#lacks = (answer.lacks ?? []).filter((id) => named.delete(id))
    const isAsked = this.#lacks.some((id) => !this.#sent.has(id))
    return { hasMoved: isNews || isAsked, refused: [] }
  }

  /** The home does not take a push as it is. Ops go alone then, until the one is found. */
  unpushable({ ops: [op, ...others] }: PushRequest, rejected: PushRejection): void {
    if (others.length === 0 && op) this.#refusals.set(op.envelope.opId, { rejected })
    this.#halve(others.length + 1)
    this.isPullDue ||= others.length === 0
  }

  /** A push took too long: on a slow line less of it arrives in time. */
  slow({ ops }: PushRequest): void {
    this.#halve(ops.length)
  }

  #halve(ops: number): void {
    this.#most = Math.max(1, ops >> 1)
  }

  /** What is to be asked; nothing, where nothing can be now. */
  async pullRequest(): Promise<PullRequest | undefined> {
    const { state, waiting } = await this.#look()
    // What was erased here is erased at home before anything of it comes back.
    if (state.erasing || !this.isPullDue) return undefined
    // Nobody reads around what is not here any more.
    if (state.after !== undefined && !this.keep) {
      const { generation = NO_GENERATION, seq: cursor, anchor } = state
      await this.replica.apply({ generation, cursor, anchor }, { reset: 'too-old', generation }, new Map())
      return this.pullRequest()
    }
    const place = this.pullAt(state)
    const known = this.#isWhole ? [] : rangesOf(this.#known(waiting, place.cursor)).slice(0, MOST_KNOWN)
    return { ...place, ...(known.length > 0 && { known }) }
  }

  /** Of what waits, what the home accepted up to a seq. */
  async acceptedUpTo(seq: number): Promise<readonly Waiting[]> {
    const { waiting } = await this.#look()
    return waiting.filter(({ envelope: { opId } }) => (this.#acks.get(opId) ?? seq + 1) <= seq)
  }

  /** What every pull says. From now on another one is due where something new is told of. */
  pullAt({ generation, seq: cursor, anchor, replica }: ReplicaState): PullRequest {
    this.#asked = this.#pulls
    return {
      ...(generation !== undefined && { generation }),
      cursor,
      anchor,
      ...(replica !== undefined && { replica }),
    }
  }

  async pulled(request: PullRequest, answer: PullAnswer): Promise<Step> {
    const { status, refused } = await this.replica.apply(request, answer, this.#refusals)
    this.#isWhole = status === 'unnamed'
    this.isPartial ||= status === 'partial'
    const { state, waiting } = await this.#look()
    for (const { envelope } of refused) this.#refusals.delete(envelope.opId)
    this.#isFirst = !('reset' in answer) && answer.generation === NO_GENERATION
    if (status === 'partial') return { hasMoved: true, refused }
    if (status !== 'applied' || 'reset' in answer) {
      // Two homes behind one address would send it to and fro without an end.
      const hasMoved = status === 'applied' && !this.#wasReset
      this.#wasReset ||= status === 'applied'
      return { hasMoved, refused }
    }
    this.#wasReset &&= answer.cursor <= request.cursor
    for (const { envelope } of waiting) {
      const seq = this.#acks.get(envelope.opId) ?? 0
      // The log went on without it: the home was restored, and is to be sent it again.
      const isLost = seq <= state.seq || (answer.cursor >= answer.head && seq > answer.head)
      if (!isLost || !this.#acks.delete(envelope.opId)) continue
      this.#lost.add(envelope.opId)
    }
    const isWaiting = ({ envelope }: Waiting) => this.#refusals.has(envelope.opId)
    if (answer.cursor < answer.head || waiting.some(isWaiting)) this.isPullDue = true
    else this.#pulled = this.#asked
    this.#hear(answer, state)
    this.isPushDue ||= waiting.some(({ envelope }) => !this.#acks.has(envelope.opId))
    return { hasMoved: answer.cursor > request.cursor || refused.length > 0, refused }
  }

  /** What the home knows of replicas. What was emptied here, it is told once. */
  #hear({ replicas = [], emptiedAt = 0 }: Confirmations, { replica, seq }: ReplicaState): void {
    const own = replicas.find(({ name }) => name === replica)
    const isNews = emptiedAt <= seq && this.confirmations.emptiedAt !== emptiedAt
    if (own && own.seq < emptiedAt && isNews) this.isPullDue = true
    this.confirmations = { replicas, emptiedAt }
  }

  /** Looks at the replica; what is known of another log is forgotten. */
  async #look(): Promise<View> {
    const view = await this.replica.refreshed()
    const { state, waiting } = view
    if (state.generation !== this.#generation) {
      this.#clear(() => false)
      // What one log would not keep, another one may ask for.
      this.#lacks = []
      this.#sent.clear()
      this.#without.clear()
      this.#failed.clear()
    }
    this.#generation = state.generation
    const ids = new Set(waiting.map(({ envelope }) => envelope.opId))
    this.#clear((opId) => ids.has(opId))
    return view
  }

  #clear(isKept: (opId: string) => boolean): void {
    for (const map of [this.#acks, this.#refusals, this.#lost, this.#repeated])
      for (const opId of [...map.keys()]) if (!isKept(opId)) map.delete(opId)
  }

  /** Seqs of what is here already. */
  #known(waiting: readonly Waiting[], cursor: number): readonly number[] {
    return waiting
      .filter((one) => !mayDiffer(one) && !this.#repeated.has(one.envelope.opId))
      .flatMap(({ envelope }) => this.#acks.get(envelope.opId) ?? [])
      .filter((seq) => seq > cursor)
      .sort((one, other) => one - other)
  }
}

/** UTF-16 units of an op's bodies. */
function unitsOf({ bodies, beside = [] }: SyncOp): number {
  const all = [...bodies, ...beside.map(({ body }) => body)]
  return all.reduce((sum, body) => sum + (body?.length ?? 0), 0)
}

function rangesOf(seqs: readonly number[]): { readonly from: number; readonly to: number }[] {
  const ranges: { from: number; to: number }[] = []
  for (const seq of seqs) {
    const last = ranges.at(-1)
    if (last && last.to + 1 >= seq) last.to = seq
    else ranges.push({ from: seq, to: seq })
  }
  return ranges
}

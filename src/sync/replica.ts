import { notesAbout } from '../forgetting/note-keys.ts'
import { SECRET } from '../kernel/context/secret.ts'
import { nothingWritten } from '../kernel/log/decide.ts'
import { partsOf } from '../kernel/log/message.ts'
import type { Message } from '../ports/message.ts'
import type { Name, SealedOp } from '../ports/op.ts'
import type { Attachment, Decision, Head, LogRow, Rows, ScopeStore } from '../ports/store.ts'
import type { PullAnswer, PullRequest, SyncOp } from '../ports/sync.ts'
import { jsonIn } from '../text/json-in.ts'
import { unlisted } from './known-op.ts'
import { applyPage, goneOf, type Page, sameOps } from './page.ts'
import { readRows } from './read.ts'
import { misfit } from './rebase.ts'
import { adoptLog, resetReplica } from './resets.ts'
import {
  type Held,
  isBookkeeping,
  isGone,
  isRejected,
  isRenamed,
  mayDiffer,
  NO_GENERATION,
  outboxRow,
  type Refusal,
  type ReplicaState,
  stateIn,
  type Waiting,
  type Wanted,
  type WholeOp,
  waitingIn,
} from './state.ts'
import { newTok } from './tok.ts'
import { changed, type View, viewOf, withoutWanted } from './view.ts'
import { scrubbed, writtenBy } from './write.ts'

/** A scope of a store that can be the replica of a home. */
export type ReplicaStore = ScopeStore & Required<Pick<ScopeStore, 'outbox'>>

/** What became of an answer of the home's. */
export interface Applied {
  /**
   * `stale`: the replica has moved on. `unnamed`: the home named an op that is not here. `partial`:
   * a delete takes along what derives from rows that are not here, so the home is to tell of all.
   */
  readonly status: 'applied' | 'stale' | 'unnamed' | 'partial'
  /** Now refused, and kept for the app to see. */
  readonly refused: readonly Waiting[]
}

const STALE: Applied = { status: 'stale', refused: [] }

/** Makes a store read a register in the transaction of a commit. It is never written. */
export function asking(key: string): SealedOp {
  return { envelope: { opId: `ask/${key}`, kind: 'put', ids: [key], key }, bodies: [''] }
}

/**
 * The rows of one scope as a replica of its home. Each change is one transaction, which does
 * nothing where the scope has moved on since it was looked at.
 */
export class Replica {
  readonly store: ReplicaStore
  /** Whose rows these are; undefined: of what the user's sessions share. */
  readonly sessionId: string | undefined
  #view: View | undefined
  /** How often others wrote, as far as this was told. */
  #told = 0
  /** How often they had when it was looked at. Undefined: that cannot be told. */
  #toldThen: number | undefined
  readonly #unwatch: () => void

  constructor(store: ReplicaStore, sessionId?: string) {
    this.store = store
    this.sessionId = sessionId
    this.#unwatch =
      store.watch?.(() => {
        this.#told++
      }) ?? (() => {})
  }

  async close(): Promise<void> {
    this.#unwatch()
    await this.store.close()
  }

  /** As {@link view}; not looked at again where nobody is known to have written since. */
  async refreshed(): Promise<View> {
    return this.#view && this.#toldThen === this.#told ? this.#view : this.view()
  }

  /** What was seen last; nothing, before it was looked at. */
  get seen(): View | undefined {
    return this.#view
  }

  /** The replica as it is. What was written before it was one waits from now on. */
  async view(): Promise<View> {
    for (;;) {
      // Before it is read: who asks meanwhile reads for themselves.
      const told = this.store.watch && this.#told
      const { text, head } = await this.#peek()
      const known = this.#view
      if (known && known.text === text && (text !== undefined || known.head.seq === head.seq)) {
        return this.#see({ ...known, head }, told)
      }
      if (text === undefined && head.seq > 0) {
        await adoptLog(this, viewOf(text, head, []))
        continue
      }
      const outbox = text === undefined ? [] : await this.#outbox()
      const after = await this.#peek()
      if (after.text !== text || (text === undefined && after.head.seq > 0)) continue
      return this.#see(viewOf(text, after.head, outbox), told)
    }
  }

  #see(view: View, told: number | undefined): View {
    this.#view = view
    this.#toldThen = told
    return view
  }

  /** What waits, with the bodies that the log has of it; nothing, where the replica moved on. */
  async held(waiting: readonly Waiting[]): Promise<readonly Held[] | undefined> {
    const seqs = waiting.flatMap(({ seq, bodies }) => (seq !== undefined && !bodies ? seq : []))
    const [first = 0] = seqs
    const rows = seqs.length > 0 ? await readRows(this.store, first - 1, seqs.at(-1)) : []
    const byOp = new Map<string, LogRow[]>()
    for (const row of rows) {
      const op = byOp.get(row.opId)
      if (op) op.push(row)
      else byOp.set(row.opId, [row])
    }
    const held = waiting.flatMap((one): Held[] => {
      const { envelope, bodies, beside } = one
      const found = byOp.get(envelope.opId)
      if (!bodies && !found && envelope.ids.length > 0) return []
      const derived = found?.map((row) => row.derived)
      const op: WholeOp = {
        envelope,
        bodies: bodies ?? (found && envelope.ids.length > 0 ? found.map(({ body }) => body) : []),
        ...(beside && { beside }),
        ...(derived?.some((column) => column !== undefined) && { derived }),
      }
      return [{ waiting: one, op }]
    })
    return held.length === waiting.length ? held : undefined
  }

  /**
   * Writes what a home answered to a pull.
   *
   * @param refusals what the home refused, by op
   * @throws ERR_STORAGE: it does not follow the log that is here
   */
  async apply(
    request: PullRequest,
    answer: PullAnswer,
    refusals: ReadonlyMap<string, Refusal>,
  ): Promise<Applied> {
    for (let view = this.#view ?? (await this.view()); ; view = await this.view()) {
      const { state } = view
      const isAsked =
        state.generation === request.generation &&
        state.seq === request.cursor &&
        state.anchor === request.anchor
      if (!isAsked || state.erasing) return STALE
      if ('reset' in answer) {
        if (await resetReplica(this, view, answer.reset, answer.generation))
          return { status: 'applied', refused: [] }
        continue
      }
      const isNext =
        answer.from === state.seq && answer.generation === (state.generation ?? answer.generation)
      if (!isNext) return STALE
      const end = answer.from + answer.ops.length
      if (answer.cursor !== end) throw misfit(`it ends with ${end}, and not with ${answer.cursor}`)
      const isNews =
        answer.anchor !== state.anchor || answer.generation !== (state.generation ?? NO_GENERATION)
      if (!isNews && refusals.size === 0) return { status: 'applied', refused: [] }
      const ops = named(answer.ops, view)
      if (!ops) return { status: 'unnamed', refused: [] }
      if (state.after !== undefined && ops.some(isDelete)) return { status: 'partial', refused: [] }
      const refused = view.waiting.filter(({ envelope: { opId } }) => refusals.has(opId))
      const written = await this.#page(view, { ...answer, ops }, refused, refusals)
      if (written) return { status: 'applied', refused: written }
    }
  }

  /**
   * The log of this generation was erased at home.
   *
   * @returns whether this was of it
   */
  async erased(erased: string, generation: string): Promise<boolean> {
    for (;;) {
      const view = await this.view()
      if (view.state.generation !== erased) return false
      if (await resetReplica(this, view, 'erased', generation)) return true
    }
  }

  /** Names the log that begins here. @returns whether it was as it was seen */
  begin(view: View, generation: string): Promise<boolean> {
    const state: ReplicaState = { ...view.state, generation }
    return this.write(view, [], () => ({ ...nothingWritten([]), replica: { state: JSON.stringify(state) } }))
  }

  /** What was gone here is gone from the user's other scopes too. */
  async cascaded(names: readonly Name[]): Promise<void> {
    for (;;) {
      const view = await this.view()
      const { gone = [], ...state } = view.state
      const left = gone.filter((name) => !names.includes(name))
      const next = { ...state, ...(left.length > 0 && { gone: left }) }
      if (left.length === gone.length) return
      const replica = { state: JSON.stringify(next satisfies ReplicaState) }
      if (await this.write(view, [], () => ({ ...nothingWritten([]), replica }))) return
    }
  }

  /** Removes rows of the outbox that were refused. */
  async discard(orders: readonly number[]): Promise<void> {
    for (;;) {
      const view = await this.view()
      const sent = view.outbox.flatMap(({ order, refusal }) =>
        refusal && orders.includes(order) ? order : [],
      )
      if (sent.length === 0) return
      const state = JSON.stringify(view.state)
      if (await this.write(view, [], () => ({ ...nothingWritten([]), replica: { state, sent } }))) return
    }
  }

  /** What was refused is kept without what derives from names that are gone elsewhere. */
  async scrubRefused(names: readonly Name[]): Promise<void> {
    for (;;) {
      const view = await this.view()
      const refused = view.outbox.filter(({ refusal }) => refusal)
      const outbox = scrubbed(refused, names).map(outboxRow)
      if (outbox.length === 0) return
      const state = JSON.stringify(view.state)
      if (await this.write(view, [], () => ({ ...nothingWritten([]), replica: { state, outbox } }))) return
    }
  }

  /**
   * Keeps an attachment that was wanted, or nothing where the home has none, or it is here.
   *
   * @param now Unix milliseconds
   */
  async fetched(
    { order, wants: id }: Wanted,
    attachment: Attachment | undefined,
    now: number,
  ): Promise<void> {
    const isWantedIn = ({ wanted }: View): boolean => wanted.some((one) => one.order === order)
    const before = await this.view()
    if (!isWantedIn(before)) return
    const { generation } = before.state
    const outcome = attachment && (await this.store.attach(attachment, now))
    for (;;) {
      const view = await this.view()
      const { state } = view
      const isWanted = isWantedIn(view)
      const isErased = state.generation !== generation || state.erasing === true
      // Written behind an erase. Else another process on the store has noted that it came.
      const isLeft = !isWanted && isErased && outcome === 'stored'
      if (!isWanted && !isLeft) return
      const isWritten = await this.write(view, [], () => ({
        ...nothingWritten([]),
        ...(isLeft ? { emptied: [`attachment:${id}`] } : { used: [id] }),
        replica: { state: JSON.stringify(state), ...(isWanted && { sent: [order] }) },
      }))
      if (isWritten) return
    }
  }

  /** @returns whether it was written: not where the scope has moved on since it was seen */
  async write(view: View, ops: readonly SealedOp[], decide: (rows: Rows) => Decision): Promise<boolean> {
    let written: Decision | undefined
    await this.store.commit(ops, (_, rows) => {
      const isSame =
        rows.replica === view.text && (view.text !== undefined || rows.head.seq === view.head.seq)
      written = isSame ? told(withoutWanted(decide(rows), view), view) : undefined
      return written ?? nothingWritten([])
    })
    if (written) this.wrote(view.text, written)
    return written !== undefined
  }

  /** Follows a change, where what it changed is what was seen last. */
  wrote(before: string | undefined, { replica, log }: Decision): void {
    const known = this.#view
    if (!replica || !known || known.text !== before) return
    const rows = changed(known.rows, (replica.outbox ?? []).map(waitingIn), replica.sent)
    const head = { ...known.head, seq: log.at(-1)?.seq ?? known.head.seq }
    this.#view = viewOf(replica.state, head, rows)
  }

  /** Names under which the user's scope may know of facts among registers. */
  notesOf(keys: Iterable<string>): readonly Name[] {
    const { sessionId } = this
    return sessionId === undefined
      ? []
      : notesAbout(sessionId, [...keys]).map((key): Name => `register:${key}`)
  }

  /** @returns what is refused now; nothing, where the scope has moved on */
  async #page(
    view: View,
    page: Omit<Page, 'ops'> & { readonly ops: readonly (WholeOp | Waiting)[] },
    refused: readonly Waiting[],
    refusals: ReadonlyMap<string, Refusal>,
  ): Promise<readonly Waiting[] | undefined> {
    const { waiting, state } = view
    const arrived = new Set(page.ops.map(({ envelope }) => envelope.opId))
    const given = new Set<unknown>(page.ops)
    // Of what the page has whole, and not by its name alone, another writer may have come first.
    const whole = await this.held(waiting.filter((one) => arrived.has(one.envelope.opId) && !given.has(one)))
    if (!whole) return undefined
    const byRow = new Map(whole.map((one) => [one.waiting, one]))
    const known = waiting.map((one) => byRow.get(one) ?? unread(one))
    const isSame = refused.length === 0 && sameOps(page.ops, known, state) === page.ops.length
    // Where nothing changes places, no other row is read for it.
    const held = isSame ? known : await this.held(waiting)
    if (!held) return undefined
    const byId = new Map(held.map(({ op }) => [op.envelope.opId, op]))
    const ops = page.ops.map((op) => ('order' in op ? (byId.get(op.envelope.opId) as WholeOp) : op))
    const now = refused
      .filter(({ envelope }) => !arrived.has(envelope.opId))
      .map((one) => refusedOf(one, byId.get(one.envelope.opId), refusals.get(one.envelope.opId) as Refusal))
    now.push(...duplicatesOf(held, ops))
    const names = [...ops, ...held.map(({ op }) => op)] as readonly unknown[] as readonly SealedOp[]
    const keys = new Set(waiting.flatMap(writtenBy))
    // Where plain messages come behind all that is here, nothing else need be read.
    const isPlain = waiting.length === 0 && ops.every(isPlainAppend)
    const asked = isSame ? [] : isPlain ? names : [...names, ...[...keys, SECRET].map(asking)]
    const dropped = now
      .filter((one) => isRenamed(one) || isBookkeeping(one, waiting))
      .map(({ order }) => order)
    const gone = this.notesOf(
      now.flatMap(({ envelope, refusal = {} }) => ('rejected' in refusal ? envelope.ids : [])),
    )
    const isWritten = await this.write(view, asked, (rows) =>
      completed(applyPage({ ...page, ops }, held, rows, now), page.ops, view, dropped, gone),
    )
    return isWritten ? now.filter(({ order }) => !dropped.includes(order)) : undefined
  }

  async #outbox(): Promise<View['rows']> {
    const all: (Waiting | Wanted)[] = []
    for (;;) {
      const page = await this.store.outbox(all.at(-1)?.order ?? 0)
      if (page.length === 0) return all
      all.push(...page.map(waitingIn))
    }
  }

  async #peek(): Promise<Pick<View, 'text' | 'head'>> {
    let text: string | undefined
    let head: Head | undefined
    await this.store.commit([], (_, rows) => {
      text = rows.replica
      head = rows.head
      return nothingWritten([])
    })
    return { text, head: head as Head }
  }
}

/**
 * What a page writes, with what becomes of refused ops and of attachments by it.
 *
 * @param dropped numbers of what waits that is not to be kept, now that it is refused
 * @param gone what the user's scope may have of that
 */
export function completed(
  decision: Decision,
  ops: readonly (WholeOp | Waiting)[],
  view: View,
  dropped: readonly number[] = [],
  gone: readonly Name[] = [],
): Decision {
  const { replica } = decision
  if (!replica) return decision
  const arrived = new Set(ops.map(({ envelope }) => envelope.opId))
  const dead = view.outbox.filter(({ refusal }) => refusal)
  // An op that was taken for refused, and is in the log, is no dead letter.
  const known = dead.flatMap(({ order, envelope, refusal }) =>
    arrived.has(envelope.opId) && !isRejected(refusal, 'duplicate-id') ? order : [],
  )
  const kept = (replica.outbox ?? []).filter(({ order }) => !dropped.includes(order))
  const aside = kept.map(waitingIn).filter((one): one is Waiting => 'refusal' in one)
  const left = scrubbed([...dead.filter(({ order }) => !known.includes(order)), ...aside], decision.emptied)
  const next = stateIn(replica.state)
  const wanted = wantedBy(ops, view).map((id, index) =>
    outboxRow({ order: next.last + 1 + index, wants: id }),
  )
  return {
    ...decision,
    replica: {
      ...replica,
      state: JSON.stringify({
        replica: newTok(),
        ...next,
        ...goneOf(next, gone),
        last: next.last + wanted.length,
      } satisfies ReplicaState),
      outbox: [
        ...kept.filter(({ order }) => !left.some((one) => one.order === order)),
        ...left.map(outboxRow),
        ...wanted,
      ],
      sent: [...(replica.sent ?? []), ...known, ...dropped],
    },
  }
}

/** Attachments of ops that others wrote. */
function wantedBy(ops: readonly (WholeOp | Waiting)[], { outbox, wanted }: View): readonly string[] {
  const own = new Set(outbox.map(({ envelope }) => envelope.opId))
  const known = new Set(wanted.map(({ wants }) => wants))
  const theirs = ops.filter(({ envelope }) => envelope.attachments && !own.has(envelope.opId))
  const ids = theirs.flatMap(({ envelope: { attachments = [] } }) => attachments)
  return [...new Set(ids)].filter((id) => !known.has(id))
}

function numbered(text: string, last: number): string {
  return JSON.stringify({ ...stateIn(text), last } satisfies ReplicaState)
}

export function isDelete({ envelope: { kind } }: Pick<SyncOp, 'envelope'>): boolean {
  return kind === 'delete'
}

function isPlainAppend({ envelope: { kind }, beside }: WholeOp): boolean {
  return kind === 'append' && !beside
}

/** What waits, as far as it is known without its bodies. */
function unread(waiting: Waiting): Held {
  return { waiting, op: { envelope: waiting.envelope, bodies: [] } }
}

/**
 * Ops of a page, of which those that were only named wait here; nothing, where one does not, or the
 * home was asked by a place that the op had before that was restored.
 */
function named(ops: Exclude<PullAnswer, { readonly reset: string }>['ops'], { waiting }: View) {
  const known = waiting.filter((one) => !mayDiffer(one))
  const byId = new Map(known.map((one) => [one.envelope.opId, one]))
  const all = ops.map((op): SyncOp | Waiting | undefined => ('envelope' in op ? op : byId.get(op.opId)))
  return all.includes(undefined) ? undefined : (all as readonly (WholeOp | Waiting)[])
}

/**
 * An op that was refused, with all that is known of it: it is nowhere else. Of what was deleted,
 * only its names are left.
 */
function refusedOf({ order, envelope }: Waiting, op: WholeOp | undefined, refusal: Refusal): Waiting {
  const { bodies = [] } = op ?? {}
  return isGone(refusal)
    ? { order, envelope: unlisted(envelope), bodies: bodies.map(() => null), refusal }
    : { order, envelope, bodies, refusal }
}

/** What waits, and would be lost: the home has something else under its name, which came first. */
export function duplicatesOf(held: readonly Held[], ops: readonly WholeOp[]): readonly Waiting[] {
  const theirs = new Map(ops.map((op) => [op.envelope.opId, op]))
  return held.flatMap(({ waiting, op }) =>
    isOther(op, theirs.get(op.envelope.opId)) ? refusedOf(waiting, op, { rejected: 'duplicate-id' }) : [],
  )
}

/**
 * Of marks, and of values of one register, the first holds; what a delete emptied is deleted under
 * another name.
 */
function isOther({ envelope, bodies }: WholeOp, theirs: WholeOp | undefined): boolean {
  const { kind, ids, key } = envelope
  if (!theirs || (kind !== 'append' && kind !== 'put')) return false
  const other = theirs.envelope
  if (other.kind !== kind || other.key !== key) return true
  if (kind !== 'append') return false
  if (`${other.ids}` !== `${ids}`) return true
  return bodies.some((body, place) => {
    const [mine, there] = [saidIn(body), saidIn(theirs.bodies[place])]
    return mine !== undefined && there !== undefined && mine !== there
  })
}

/** What a message says, whenever it was said; nothing of one that is sealed or forgotten. */
function saidIn(body: string | null | undefined): string | undefined {
  const message = jsonIn(body) as Message | null | undefined
  return message ? JSON.stringify([message.role, partsOf(message)]) : undefined
}

/** A change of the outbox alone changes the state too: by its text others see that it did. */
function told(decision: Decision, { text, state }: View): Decision {
  const { replica } = decision
  if (!replica || replica.state !== text) return decision
  return {
    ...decision,
    replica: { ...replica, state: numbered(text ?? JSON.stringify(state), state.last + 1) },
  }
}

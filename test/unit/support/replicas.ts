/** Replicas of one home, each over a store of its own, without a network between them. */
import { SECRET } from '../../../src/kernel/context/secret.ts'
import { nothingWritten } from '../../../src/kernel/log/decide.ts'
import { sealOp } from '../../../src/kernel/log/seal.ts'
import type { Scope, SealedOp } from '../../../src/ports/op.ts'
import { scopeName } from '../../../src/ports/scope-name.ts'
import type { Changes, Head, LogRow, RegisterRow, ScopeStore, Store } from '../../../src/ports/store.ts'
import type { PushAnswer } from '../../../src/ports/sync.ts'
import { decidePush, homeStore } from '../../../src/sync/home.ts'
import { homeStateIn } from '../../../src/sync/home-state.ts'
import { applyPage } from '../../../src/sync/page.ts'
import { pushedOps } from '../../../src/sync/pushed.ts'
import { recoveredFrom } from '../../../src/sync/recover.ts'
import { resetErased } from '../../../src/sync/resets.ts'
import {
  type Held,
  type ReplicaState,
  stateIn,
  type Waiting,
  type WholeOp,
  waitingIn,
} from '../../../src/sync/state.ts'
import { writeLocally } from '../../../src/sync/write.ts'

/** Ops of one push, so that answers come between them. */
const PUSHED = 3

/** A home, to which all is written through {@link homeStore}. */
export class SyncHome {
  readonly raw: Store
  /** What is written at home itself is written here. */
  readonly store: Store
  #toks = 0

  constructor(raw: Store) {
    this.raw = raw
    this.store = homeStore(raw, { newTok: this.newTok })
  }

  readonly newTok = (): string => `tok-${++this.#toks}`
}

/** A store that is the replica of a home once `sync` is called. */
export class Replica {
  readonly store: Store
  readonly #inner: Store
  readonly #home: SyncHome

  constructor(inner: Store, home: SyncHome) {
    this.#inner = inner
    this.#home = home
    this.store = {
      open: (scope) => written(inner.open(scope)),
      oldestUnused: () => inner.oldestUnused(),
      removeUnused: (until) => inner.removeUnused(until),
      scopes: (after) => inner.scopes(after),
    }
  }

  /** What waits, of all scopes. */
  async waiting(): Promise<readonly Waiting[]> {
    const scopes = await allScopes(this.#inner)
    return (await Promise.all(scopes.map((scope) => outboxOf(this.#inner.open(scope))))).flat()
  }

  /** Sends what waits in each scope, and reads what its home has. */
  async sync(): Promise<void> {
    const scopes = [...(await allScopes(this.#inner)), ...(await allScopes(this.#home.raw))]
    const byName = new Map(scopes.map((scope) => [scopeName(scope), scope]))
    for (const scope of byName.values()) {
      await this.push(scope)
      await this.pull(scope)
    }
  }

  /** Sends what waits; the answers are of no use but for what was refused. */
  async push(scope: Scope): Promise<void> {
    const local = this.#inner.open(scope)
    for (;;) {
      const held = (await heldIn(local)).filter(({ waiting }) => waiting.refusal === undefined)
      const refused: Waiting[] = []
      for (let at = 0; at < held.length; at += PUSHED) {
        const { generation = '' } = (await stateOf(local)).state
        const answer = await this.#pushed(scope, generation, held.slice(at, at + PUSHED))
        if ('erased' in answer) return
        answer.results.forEach((result, index) => {
          if (!('seq' in result)) refused.push({ ...(held[at + index] as Held).waiting, refusal: result })
        })
      }
      if (refused.length === 0) return
      const { state } = await stateOf(local)
      const { generation = '', seq: cursor, anchor } = state
      await this.#apply(local, { generation, cursor, anchor, ops: [] }, refused)
    }
  }

  async pull(scope: Scope): Promise<void> {
    const local = this.#inner.open(scope)
    const home = this.#home.raw.open(scope)
    const { text } = await stateOf(home)
    const known = homeStateIn(text)
    if (!known) return
    const { state } = await stateOf(local)
    if (state.generation !== undefined && known.erased.includes(state.generation)) {
      const held = await heldIn(local)
      await local.commit(sealedOf(held), (_, rows) => resetErased(known.generation, held, rows))
    }
    const { state: now } = await stateOf(local)
    const ops = await opsAfter(home, known.since + now.seq)
    if (ops.length === 0) return
    const [last] = ops.slice(-1)
    await this.#apply(local, {
      generation: known.generation,
      ops: ops.map(({ op }) => op),
      cursor: (last?.seq ?? 0) - known.since,
      anchor: last?.tok ?? '',
    })
  }

  async #apply(
    local: ScopeStore,
    page: Parameters<typeof applyPage>[0],
    refused: readonly Waiting[] = [],
  ): Promise<void> {
    const held = (await heldIn(local)).filter(({ waiting }) => waiting.refusal === undefined)
    const probe = sealOp({ kind: 'put', opId: 'probe', key: SECRET, base: null, value: null })
    const ops = [...page.ops.map(sealed), ...sealedOf(held), probe]
    await local.commit(ops, (_, rows) => applyPage(page, held, rows, refused))
  }

  async #pushed(scope: Scope, generation: string, held: readonly Held[]): Promise<PushAnswer> {
    const ops = held.map(({ op }) => op)
    let answer: PushAnswer | undefined
    await this.#home.raw.open(scope).commit(pushedOps(ops), (given, rows) => {
      const made = decidePush({ generation, ops }, given, rows, this.#home.newTok)
      answer = made.answer
      return made.decision
    })
    return answer as PushAnswer
  }
}

/** A scope whose own ops wait for its home. */
function written(scope: ScopeStore): ScopeStore {
  return new Proxy(scope, {
    get: (target, key) => {
      const value: unknown = Reflect.get(target, key)
      if (key === 'commit') return commit
      if (key === 'head') return async () => confirmedIn(await target.head())
      if (key === 'changesSince') return changesSince
      return typeof value === 'function' ? value.bind(target) : value
    },
  })

  async function confirmedIn(head: Head): Promise<Head> {
    const { state } = await stateOf(scope)
    return { ...head, confirmed: Math.min(head.seq, state.erasing ? 0 : state.seq) }
  }

  async function changesSince(seq: number): Promise<Changes> {
    const changes = await scope.changesSince(seq)
    return { ...changes, head: await confirmedIn(changes.head) }
  }

  async function commit(...[ops, decide]: Parameters<ScopeStore['commit']>) {
    let waiting: readonly Waiting[] | undefined
    let known: string | undefined
    for (;;) {
      let isWritten = true
      const results = await scope.commit(ops, (given, rows) => {
        const decision = writeLocally(given, rows, decide, known === rows.replica ? waiting : undefined)
        isWritten = decision !== undefined
        known = rows.replica
        return decision ?? nothingWritten([])
      })
      if (isWritten) return results
      waiting = await outboxOf(scope)
    }
  }
}

async function outboxOf(scope: ScopeStore): Promise<readonly Waiting[]> {
  const all: Waiting[] = []
  for (;;) {
    const rows = (await scope.outbox?.(all.at(-1)?.order ?? 0)) ?? []
    if (rows.length === 0) return all
    all.push(...rows.map((row) => waitingIn(row) as Waiting))
  }
}

async function stateOf(scope: ScopeStore) {
  let text: string | undefined
  await scope.commit([], (_, rows) => {
    text = rows.replica
    return nothingWritten([])
  })
  return { text, state: stateIn(text) as ReplicaState }
}

/** What waits, put together with its rows. */
async function heldIn(scope: ScopeStore): Promise<readonly Held[]> {
  const waiting = await outboxOf(scope)
  const rows = await rowsAfter(scope, 0)
  return waiting.map((one): Held => {
    const { envelope, beside, bodies } = one
    const own = rows.filter(({ opId, kind }) => opId === envelope.opId && kind !== 'put')
    const op = { envelope, bodies: bodies ?? envelope.ids.map((id) => bodyOf(own, id)) }
    return { waiting: one, op: { ...op, ...(beside && { beside }) } }
  })
}

function bodyOf(rows: readonly LogRow[], id: string): string | null {
  return rows.find((row) => row.id === id)?.body ?? null
}

/** Ops of a home's log after a seq. */
async function opsAfter(home: ScopeStore, after: number) {
  const rows = await rowsAfter(home, 0)
  const registers = new Map<string, RegisterRow>()
  const keys = rows.flatMap(({ kind, id }) => (kind === 'put' ? id : []))
  for (const key of [SECRET, ...keys]) {
    const row = await home.register(key)
    if (row) registers.set(key, row)
  }
  return recoveredFrom(rows, registers).flatMap((one) => {
    const { envelope, beside, bodies, seq = 0 } = one
    if (seq <= after) return []
    const own = rows.filter((row) => row.seq === seq)
    const op: WholeOp = {
      envelope,
      bodies: bodies ?? envelope.ids.map((id) => bodyOf(own, id)),
      ...(beside && { beside }),
    }
    return { seq, tok: own[0]?.tok, op }
  })
}

async function rowsAfter(scope: ScopeStore, after: number): Promise<readonly LogRow[]> {
  const all: LogRow[] = []
  for (let seq = after, more = true; more; ) {
    const page = await scope.changesSince(seq)
    all.push(...page.rows)
    more = page.more
    seq = page.rows.at(-1)?.seq ?? seq
  }
  return all
}

async function allScopes(store: Store): Promise<readonly Scope[]> {
  const all: Scope[] = []
  for (;;) {
    const page = await store.scopes(all.at(-1))
    if (page.length === 0) return all
    all.push(...page)
  }
}

function sealedOf(held: readonly Held[]): readonly SealedOp[] {
  return held.map(({ op }) => sealed(op))
}

function sealed({ envelope, bodies }: WholeOp): SealedOp {
  return { envelope, bodies: bodies as readonly string[] }
}

/** The client's part of the protocol, over a store: what an engine does, one message at a time. */
import { nothingWritten } from '../../src/kernel/log/decide.ts'
import type { OpResult, SealedOp } from '../../src/ports/op.ts'
import type { Decide, LogRow, RegisterRow, Rows, ScopeStore } from '../../src/ports/store.ts'
import type { PullAnswer, PullRequest, PushAnswer, PushRequest, SyncOp } from '../../src/ports/sync.ts'
import type { Held, WholeOp } from '../../src/sync/page.ts'
import { type ReplicaState, stateIn, type Waiting, waitingIn } from '../../src/sync/state.ts'
import { readLog } from '../contract/samples.ts'
import { SECRET_ROW, type Protocol } from './protocol.ts'

/** A tab of a device: what it holds in memory is lost when it crashes. */
export class Tab {
  readonly device: string
  readonly scope: ScopeStore
  readonly #protocol: Protocol
  /** Seqs at which the home says that it accepted what waits: hints. */
  acked = new Map<string, number>()
  /** The next pull asks for all bodies. */
  asksAll = false

  constructor(device: string, scope: ScopeStore, protocol: Protocol) {
    this.device = device
    this.scope = scope
    this.#protocol = protocol
  }

  async write(ops: readonly SealedOp[], decide: Decide): Promise<readonly OpResult[]> {
    const { writeLocally } = this.#protocol
    const waiting = await this.outbox()
    return this.scope.commit(ops, (given, rows) => {
      const decision = writeLocally(given, rows, decide) ?? writeLocally(given, rows, decide, waiting)
      if (!decision) throw new Error('nothing was decided')
      return decision
    })
  }

  async outbox(): Promise<Waiting[]> {
    const all: Waiting[] = []
    for (let after = 0; ; ) {
      const page = (await this.scope.outbox?.(after)) ?? []
      if (page.length === 0) return all
      all.push(...page.map(waitingIn))
      after = page.at(-1)?.order ?? 0
    }
  }

  async state(): Promise<ReplicaState> {
    let text: string | undefined
    await this.scope.commit([], (_, rows) => {
      text = rows.replica
      return nothingWritten([])
    })
    return stateIn(text)
  }

  async held(): Promise<Held[]> {
    const waiting = await this.outbox()
    if (waiting.length === 0) return []
    const { seq } = await this.state()
    const rows = new Map<string, LogRow[]>()
    for (const row of await readLog(this.scope, seq)) rows.set(row.opId, [...(rows.get(row.opId) ?? []), row])
    return waiting.map((one) => ({ waiting: one, op: wholeOf(one, rows.get(one.envelope.opId) ?? []) }))
  }

  async push(limit: number): Promise<PushRequest | undefined> {
    const { generation, erasing } = await this.state()
    if (generation === undefined) return undefined
    const held = await this.held()
    const left = held.filter(({ waiting }) => waiting.refusal === undefined)
    const sendable = erasing
      ? left.filter(({ waiting }) => waiting.envelope.kind === 'erase').slice(0, 1)
      : left.filter(({ waiting }) => waiting.generation === generation)
    const unacked = sendable.filter(({ op }) => !this.acked.has(op.envelope.opId))
    const prefix = this.#protocol.prefix(unacked, limit)
    if (prefix.length === 0) return undefined
    const ops = prefix.map(({ op: { derived: _, ...op } }): SyncOp => op)
    return { generation, ops }
  }

  async pushed(request: PushRequest, answer: PushAnswer): Promise<void> {
    const state = await this.state()
    const { isOf } = this.#protocol
    if (!isOf(state, request, answer)) return
    if ('erased' in answer) return this.#erased(answer.generation)
    const held = await this.held()
    const refused = held.flatMap(({ waiting }): Waiting[] => {
      const index = request.ops.findIndex(({ envelope }) => envelope.opId === waiting.envelope.opId)
      const result = answer.results[index]
      if (!result || waiting.refusal) return []
      if ('seq' in result) {
        this.acked.set(waiting.envelope.opId, result.seq)
        return []
      }
      return [{ ...waiting, refusal: result }]
    })
    const { acked } = this.#protocol
    const done = acked(held, request, answer)
    if (done.length > 0)
      await this.scope.commit([], (_, rows) => ({
        ...nothingWritten([]),
        replica: { state: rows.replica ?? '', sent: done.map(({ order }) => order) },
      }))
    const { generation } = state
    if (refused.length === 0 || generation === undefined || state.erasing) return
    const { seq: cursor, anchor } = state
    await this.#apply([], held, (given, rows) =>
      this.#protocol.applyPage({ generation, ops: [], cursor, anchor }, given, rows, refused),
    )
  }

  async pull(limit: number): Promise<PullRequest | undefined> {
    const { generation, seq, anchor, erasing } = await this.state()
    if (erasing) return undefined
    const seqs = this.asksAll ? [] : [...this.acked.values()].filter((one) => one > seq)
    return {
      ...(generation !== undefined && { generation }),
      cursor: seq,
      anchor,
      limit,
      ...(seqs.length > 0 && { known: seqs.map((one) => ({ from: one, to: one })) }),
    }
  }

  async pulled(request: PullRequest, answer: PullAnswer): Promise<void> {
    const state = await this.state()
    const { isFresh } = this.#protocol
    if (!isFresh(state, request, answer)) return
    if ('reset' in answer) {
      if (answer.reset === 'erased') return this.#erased(answer.generation)
      return this.#diverged(answer.generation)
    }
    const held = await this.held()
    const own = new Map(held.map(({ op }) => [op.envelope.opId, op]))
    const ops = answer.ops.flatMap((op): WholeOp[] => {
      if ('envelope' in op) return [op]
      const whole = this.#protocol.known(op.opId, own)
      return whole ? [whole] : []
    })
    this.asksAll = ops.length < answer.ops.length
    if (this.asksAll) return
    const { generation, cursor, anchor } = answer
    if (ops.length > 0 || state.generation === undefined)
      await this.#apply(ops, held, (given, rows, page) =>
        this.#protocol.applyPage({ generation, ops: page, cursor, anchor }, given, rows),
      )
    const waiting = new Set(held.map(({ op }) => op.envelope.opId))
    for (const { envelope } of ops) waiting.delete(envelope.opId)
    for (const [opId, seq] of this.acked)
      if (!waiting.has(opId) || seq <= cursor || (cursor === answer.head && seq > answer.head))
        this.acked.delete(opId)
  }

  /** Commits a decision about ops of a page and what is held, with all that was read for them. */
  async #apply(
    page: readonly WholeOp[],
    held: readonly Held[],
    decide: (held: readonly Held[], rows: Rows, page: readonly WholeOp[]) => ReturnType<Decide>,
  ): Promise<void> {
    const { sealed } = this.#protocol
    const ops = [...page, ...held.map(({ op }) => op)].map(sealed)
    await this.scope.commit([...ops, SECRET_ROW], (_, rows) => decide(held, rows, page))
  }

  async #erased(generation: string): Promise<void> {
    const held = await this.held()
    this.acked.clear()
    await this.#apply([], held, (given, rows) => this.#protocol.resetErased(generation, given, rows))
  }

  async #diverged(generation: string): Promise<void> {
    const { seq } = await this.state()
    const held = await this.held()
    this.acked.clear()
    const rows = (await readLog(this.scope)).filter((row) => row.seq <= seq)
    const registers = await this.registers(rows)
    for (const { waiting } of held.toReversed())
      for (const [key, row] of waiting.before?.registers.toReversed() ?? [])
        if (row) registers.set(key, row)
        else registers.delete(key)
    const { recoveredFrom, resetDiverged } = this.#protocol
    const recovered = recoveredFrom(rows, registers)
    await this.#apply([], held, (given, read) => resetDiverged(generation, recovered, given, read))
  }

  /** Registers that rows wrote. */
  async registers(rows: readonly LogRow[]): Promise<Map<string, RegisterRow>> {
    return registersOf(this.scope, rows)
  }
}

export async function registersOf(
  scope: Pick<ScopeStore, 'register'>,
  rows: readonly LogRow[],
): Promise<Map<string, RegisterRow>> {
  const keys = new Set(['secret'])
  for (const { kind, id } of rows) {
    if (kind === 'put') keys.add(id)
    if (kind === 'delete' && id.startsWith('register:')) keys.add(id.slice('register:'.length))
  }
  const found = new Map<string, RegisterRow>()
  for (const key of keys) {
    const row = await scope.register(key)
    if (row) found.set(key, row)
  }
  return found
}

function wholeOf({ envelope, bodies, beside }: Waiting, rows: readonly LogRow[]): WholeOp {
  const derived = rows.map((row) => row.derived)
  const isDelete = envelope.kind === 'delete' || envelope.kind === 'erase'
  return {
    envelope,
    bodies: bodies ?? (isDelete ? [] : rows.map(({ body }) => body)),
    ...(beside && { beside }),
    ...(derived.some((one) => one !== undefined) && { derived }),
  }
}

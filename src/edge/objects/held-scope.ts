import { FACT } from '../../features/facts/fact.ts'
import { HEAD_NAME } from '../../kernel/log/message.ts'
import { idIn, type Name } from '../../ports/op.ts'
import type { Decision, Rows, ScopeStore } from '../../ports/store.ts'
import { onDecision } from '../replica/on-decision.ts'

/**
 * A scope for as long as it is held. Once `check` throws, every call rejects with that, and reads
 * and writes nothing: so a call that was under way when its session was removed leaves nothing
 * behind. A commit that had to wait is checked once more when it is decided.
 *
 * @param check Contract: throws the caller's error once the scope is no longer held
 */
export function heldScope(scope: ScopeStore, check: () => void): ScopeStore {
  const held = <Result>(call: () => Promise<Result>): Promise<Result> => {
    try {
      check()
    } catch (error) {
      return Promise.reject(error)
    }
    return call()
  }
  return {
    commit: (ops, decide) =>
      held(() =>
        scope.commit(ops, (given, rows) => {
          check()
          return decide(given, rows)
        }),
      ),
    entries: (query) => held(() => scope.entries(query)),
    head: () => held(() => scope.head()),
    register: (key) => held(() => scope.register(key)),
    registers: (prefix, after, before) => held(() => scope.registers(prefix, after, before)),
    indexed: (group, query) => held(() => scope.indexed(group, query)),
    sums: (groups) => held(() => scope.sums(groups)),
    changesSince: (seq) => held(() => scope.changesSince(seq)),
    attach: (attachment, at) => held(() => scope.attach(attachment, at)),
    attachment: (id) => held(() => scope.attachment(id)),
    attached: (ids) => held(() => scope.attached(ids)),
    derive: (row, seq) => held(() => scope.derive(row, seq)),
    derived: (prefix, after) => held(() => scope.derived(prefix, after)),
    close: () => scope.close(),
    ...(scope.outbox && { outbox: (after) => held(async () => scope.outbox?.(after) ?? []) }),
    ...(scope.watch && { watch: (listener) => scope.watch?.(listener) ?? (() => {}) }),
  }
}

/** Contract: synchronous, both; what they write is undone with the commit. */
export interface Told {
  /** Something was forgotten. */
  readonly forgot: () => void
  /** Facts were written. Default: nobody asks. */
  readonly wrote?: (facts: readonly WrittenFact[]) => void
  /** Names were emptied, those of heads aside. Default: nobody asks. */
  readonly emptied?: (names: readonly Name[]) => void
  /**
   * Messages can be found that could not be before or the other way round, or were forgotten.
   * Default: nobody asks.
   *
   * @param seq that of the commit's last op
   */
  readonly said?: (change: 'changed' | 'forgotten', seq: number) => void
}

/** A fact that was written. */
export interface WrittenFact {
  readonly key: string
  /** Whether there was nothing under its key. */
  readonly isNew: boolean
}

/** A scope that tells of what is forgotten or remembered in it, in the transaction of each. */
export function tellingScope(scope: ScopeStore, { forgot, wrote, said, ...told }: Told): ScopeStore {
  return onDecision(scope, (decision, rows) => {
    if (isForgetting(decision, rows)) forgot()
    const { emptied, log } = decision
    const isForgotten = emptied.some((name) => idIn('entry', name) !== undefined)
    if (isForgotten || log.some(({ kind }) => kind === 'message' || kind === 'rewind'))
      said?.(isForgotten ? 'forgotten' : 'changed', (log.at(-1) ?? rows.head).seq)
    const gone = told.emptied ? emptied.filter((name) => !name.startsWith(HEAD_NAME)) : []
    if (gone.length > 0) told.emptied?.(gone)
    const facts = wrote
      ? decision.registers.filter(({ key, body }) => key.startsWith(FACT) && body !== null)
      : []
    if (facts.length > 0) wrote?.(facts.map(({ key }) => ({ key, isNew: !rows.registers.has(key) })))
  })
}

/**
 * A register without a body was deleted, here or where it was copied from. What is empty has
 * nothing to forget: a copy begins by being emptied.
 */
function isForgetting({ emptied, registers, erase }: Decision, { head }: Rows): boolean {
  return (erase && head.seq > 0) || emptied.length > 0 || registers.some(({ body }) => body === null)
}

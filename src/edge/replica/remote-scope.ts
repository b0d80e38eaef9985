import { isPlimsollError, PlimsollError } from '../../ports/errors.ts'
import type { Scope, SealedOp } from '../../ports/op.ts'
import type {
  Attachment,
  DerivedRow,
  EntriesQuery,
  IndexQuery,
  LogRow,
  ScopeStore,
} from '../../ports/store.ts'
import { type CallHost, callObject } from './call-object.ts'
import { readShown } from './read-shown.ts'
import { deciderOf, type Rule, ruleOf } from './rules.ts'

/** What an object offers that is the home of scopes. */
export interface ScopeHost {
  /**
   * Contract: checks that the scope is one that lives here, and answers by {@link answerScopeCall}.
   * Answers are values that survive a structured clone, Maps and bytes included.
   *
   * @throws ERR_NOT_FOUND: the scope is another object's
   */
  scope(scope: Scope, call: ScopeCall): Promise<unknown>
}

/**
 * One call of a {@link ScopeStore}, or {@link shownMessages}, as it crosses between objects. Fields
 * and methods are only ever added.
 */
export type ScopeCall = StoreCall | { readonly method: 'messages'; readonly ids: readonly string[] }

type StoreCall =
  | { readonly method: 'commit'; readonly ops: readonly SealedOp[]; readonly rule: Rule }
  | { readonly method: 'entries'; readonly query: EntriesQuery }
  | { readonly method: 'head' }
  | { readonly method: 'register'; readonly key: string }
  | { readonly method: 'registers'; readonly prefix: string; readonly after?: string }
  | { readonly method: 'indexed'; readonly group: string; readonly query: IndexQuery }
  | { readonly method: 'sums'; readonly groups: readonly string[] }
  | { readonly method: 'changesSince'; readonly seq: number }
  | { readonly method: 'attach'; readonly attachment: Attachment; readonly at: number }
  | { readonly method: 'attachment'; readonly id: string }
  | { readonly method: 'attached'; readonly ids: readonly string[] }
  | { readonly method: 'derive'; readonly row: DerivedRow; readonly seq: number }
  | { readonly method: 'derived'; readonly prefix: string; readonly after?: string }

type Answer<Method extends StoreCall['method']> = Awaited<ReturnType<ScopeStore[Method]>>

/**
 * Runs a call inside the scope's home. @throws ERR_INVALID_ARGUMENT (a rule that this version does
 * not know); as the store
 */
export async function answerScopeCall(store: ScopeStore, call: ScopeCall): Promise<unknown> {
  switch (call.method) {
    case 'commit':
      return store.commit(call.ops, deciderOf(call.rule))
    case 'entries':
      return store.entries(call.query)
    case 'head':
      return store.head()
    case 'register':
      return store.register(call.key)
    case 'registers':
      return store.registers(call.prefix, call.after)
    case 'indexed':
      return store.indexed(call.group, call.query)
    case 'sums':
      return store.sums(call.groups)
    case 'changesSince':
      return store.changesSince(call.seq)
    case 'attach':
      return store.attach(call.attachment, call.at)
    case 'attachment':
      return store.attachment(call.id)
    case 'attached':
      return store.attached(call.ids)
    case 'derive':
      return store.derive(call.row, call.seq)
    case 'derived':
      return store.derived(call.prefix, call.after)
    case 'messages':
      return readShown(store, call.ids)
    default:
      throw unknown(call)
  }
}

/** A newer version called. */
function unknown(call: never): PlimsollError {
  const { method } = call as { readonly method: unknown }
  return new PlimsollError('ERR_INVALID_ARGUMENT', `scope: no method ${method}`, { argument: 'method' })
}

export interface RemoteScopeParts {
  /** Contract: gives a new stub of the scope's home at each call. */
  readonly stub: () => ScopeHost
  readonly scope: Scope
  readonly host: CallHost
}

/**
 * A scope that lives in another object. Each method is one call of it, which is safe to send again:
 * ops are named, attachments are written once, and what is derived only depends on the log.
 * `commit` takes the core's rules alone (`decide`, `allOrNone`, `once`, `look`), and `onlyAt`.
 * Closing it does nothing: the home closes its own.
 *
 * @throws ERR_OVERLOADED (`retryAfter`), ERR_STORAGE; from `commit`, ERR_INVALID_ARGUMENT (another
 * rule); what the home throws
 */
export function remoteScope({ stub, scope, host }: RemoteScopeParts): ScopeStore {
  const ask = <Method extends StoreCall['method']>(
    call: Extract<StoreCall, { readonly method: Method }>,
  ): Promise<Answer<Method>> =>
    callObject(stub, host, call.method, (home) => home.scope(scope, call) as Promise<Answer<Method>>)
  return {
    commit: async (ops, decide) => ask<'commit'>({ method: 'commit', ops, rule: ruleOf(decide) }),
    entries: (query = {}) => ask<'entries'>({ method: 'entries', query }),
    head: () => ask<'head'>({ method: 'head' }),
    register: (key) => ask<'register'>({ method: 'register', key }),
    registers: (prefix, after) =>
      ask<'registers'>({ method: 'registers', prefix, ...(after !== undefined && { after }) }),
    indexed: (group, query = {}) => ask<'indexed'>({ method: 'indexed', group, query }),
    sums: (groups) => ask<'sums'>({ method: 'sums', groups }),
    changesSince: (seq) => ask<'changesSince'>({ method: 'changesSince', seq }),
    attach: (attachment, at) =>
      ask<'attach'>({ method: 'attach', attachment: { ...attachment, bytes: own(attachment.bytes) }, at }),
    attachment: (id) => ask<'attachment'>({ method: 'attachment', id }),
    attached: (ids) => ask<'attached'>({ method: 'attached', ids }),
    derive: (row, seq) => ask<'derive'>({ method: 'derive', row: { ...row, bytes: own(row.bytes) }, seq }),
    derived: (prefix, after) =>
      ask<'derived'>({ method: 'derived', prefix, ...(after !== undefined && { after }) }),
    close: async () => {},
  }
}

/**
 * Messages of a session in another object, by their ids, in one call; undefined: it is not there, a
 * rewind hides it, or the session is gone. @throws ERR_OVERLOADED (`retryAfter`), ERR_STORAGE, what
 * the home throws
 */
export async function shownMessages(
  { stub, scope, host }: RemoteScopeParts,
  ids: readonly string[],
): Promise<readonly (LogRow | undefined)[]> {
  try {
    return await callObject(
      stub,
      host,
      'recall',
      (home) => home.scope(scope, { method: 'messages', ids }) as Promise<readonly (LogRow | undefined)[]>,
    )
  } catch (error) {
    if (isPlimsollError(error, 'ERR_NOT_FOUND')) return []
    throw error
  }
}

/** A structured clone of a view takes all of the buffer with it that the view is on. */
function own(bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  return bytes.byteLength === bytes.buffer.byteLength ? bytes : bytes.slice()
}

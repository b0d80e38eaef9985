import type {
  Envelope,
  HandedOut,
  IndexEntry,
  MarkKind,
  Name,
  OpResult,
  Scope,
  SealedOp,
} from '../../src/ports/op.ts'
import type { LogRow, Reads, ScopeStore, Store } from '../../src/ports/store.ts'

export type Open = () => Store | Promise<Store>

export const SCOPE: Scope = { tenant: 'acme', userId: 'ada', sessionId: 'trip' }

export async function openScope(open: Open, scope: Scope = SCOPE): Promise<ScopeStore> {
  return (await open()).open(scope)
}

export const bodyOf = (id: string): string => `body of ${id}`

interface AppendOptions {
  readonly round?: string
  readonly bodies?: readonly (string | null)[]
  readonly derived?: readonly (string | undefined)[]
  readonly contexts?: readonly HandedOut[]
}

/** Messages of one round; without `round`, of the one that the first of them opens. */
export function append(opId: string, ids: readonly string[], options: AppendOptions = {}): SealedOp {
  const { round = ids[0] ?? '', bodies = ids.map(bodyOf), derived, contexts } = options
  const envelope: Envelope = { opId, kind: 'append', round, ids, ...(contexts && { contexts }) }
  return { envelope, bodies, ...(derived && { derived }) }
}

interface MarkOptions {
  readonly base?: string | null
  readonly lane?: string
  readonly sources?: readonly Name[]
}

export function mark(opId: string, type: MarkKind, id: string, options: MarkOptions = {}): SealedOp {
  const { base = null, lane = 'lane', sources } = options
  const envelope: Envelope = {
    opId,
    kind: 'mark',
    ids: [id],
    mark: type,
    base,
    ...(type !== 'rewind' && { lane }),
    ...(sources && { sources }),
  }
  return { envelope, bodies: [bodyOf(id)] }
}

interface PutOptions {
  readonly body?: string
  readonly sources?: readonly Name[]
  readonly index?: readonly IndexEntry[]
}

export function put(opId: string, key: string, base: string | null, options: PutOptions = {}): SealedOp {
  const { body = bodyOf(opId), sources, index } = options
  return {
    envelope: {
      opId,
      kind: 'put',
      ids: [key],
      key,
      base,
      ...(sources && { sources }),
      ...(index && { index }),
    },
    bodies: [body],
  }
}

export function remove(opId: string, target: Name): SealedOp {
  return { envelope: { opId, kind: 'delete', ids: [], target }, bodies: [] }
}

export function erase(opId: string): SealedOp {
  return { envelope: { opId, kind: 'erase', ids: [] }, bodies: [] }
}

/** `count` names that sort as they are numbered. */
export function names(prefix: string, count: number): string[] {
  return Array.from({ length: count }, (_, index) => `${prefix}${String(index).padStart(4, '0')}`)
}

export const accepted = (seq: number, applied = true): OpResult => ({ status: 'accepted', seq, applied })

/** Every row of the log, page by page. */
export async function readLog(scope: Reads, after = 0): Promise<LogRow[]> {
  const rows: LogRow[] = []
  for (let seq = after, more = true; more; seq = rows.at(-1)?.seq ?? seq) {
    const page = await scope.changesSince(seq)
    rows.push(...page.rows)
    more = page.more && page.rows.length > 0
  }
  return rows
}

/** Everything that can be read from a scope. */
export async function readAll(scope: Reads): Promise<unknown> {
  return { head: await scope.head(), log: await readLog(scope), registers: await scope.registers('') }
}

/** Texts that storage engines are known to change, cut or mix up. */
export const TEXTS: Readonly<Record<string, string>> = {
  empty: '',
  NUL: 'a\u0000b\u0000',
  '64 KiB': 'Plimsoll '.repeat(7_282),
  '64 KiB of three-byte characters': '海'.repeat(21_846),
  emoji: '👩‍👩‍👧‍👦 🏳️‍🌈 🇫🇷',
  'right to left': 'שלום \u202eabc\u202c مرحبا',
  'line separators': 'a\u2028b\u2029c\r\nd\u0085e\ve',
  'composed and decomposed': '\u00e9 e\u0301 \u212b \u00c5',
  'byte order mark and noncharacters': '\ufeffa\uffff\ufffe\u{10ffff}',
  controls: '\u0001\u001f\u007f\u009f\b\t',
  JSON: '{"a":"\\u0000\\ud83d","__proto__":null}',
  SQL: `'; DROP TABLE log; -- " \` % _ ? :a $1`,
  'leading and trailing space': ' \t a \n ',
}

/** Names that must not be taken for one another, nor for anything of the platform. */
export const IDS: readonly string[] = [
  'a',
  'A',
  'a ',
  ' a',
  'a\u0000',
  'a\u0000b',
  '\u0000',
  '\u00e9',
  'e\u0301',
  '\u212b',
  '\u00c5',
  'ﬁ',
  'fi',
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  'length',
  'null',
  'undefined',
  'true',
  '0',
  '00',
  '1e3',
  '-1',
  'NaN',
  '👍',
  '👍🏽',
  '\ufeff',
  '\u200b',
  '%',
  '_',
  '*',
  '?',
  "'",
  '"',
  '\\',
  '/',
  '..',
  'a/b',
  'a:b',
  '[]',
  '["a"]',
  'é'.repeat(128),
  'x'.repeat(256),
]

/** Bytes that tell their place, and by their length each other. */
export function bytesOf(size: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(size)
  // `Uint8Array.from` asks an iterator for each of them, which takes ten times as long.
  for (let at = 0; at < size; at++) bytes[at] = (at * 31 + size) % 251
  return bytes
}

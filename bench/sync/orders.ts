/** What the bench, its server and its pages have in common. */
import type { Scope } from '../../src/ports/op.ts'
import type { LogRow, Store } from '../../src/ports/store.ts'
import { readRows } from '../../src/sync/read.ts'

export type Durability = 'strict' | 'relaxed'

export const OURS = 'plimsoll'
export const LIMIT = 'one request, one transaction'
/** With batches that suit them, and as they come. */
export const RXDB = 'RxDB, one batch'
export const RXDB_DEFAULT = 'RxDB, batches of 100'
export const POUCHDB = 'PouchDB, batches of 1 000'
export const POUCHDB_DEFAULT = 'PouchDB, batches of 100'
export const SUBJECTS = [OURS, LIMIT, RXDB, RXDB_DEFAULT, POUCHDB, POUCHDB_DEFAULT] as const

export type SubjectName = (typeof SUBJECTS)[number]

/** Where the server has each of them. */
export const PATHS: Readonly<Record<SubjectName, string>> = {
  [OURS]: 'home',
  [LIMIT]: 'limit',
  [RXDB]: 'rxdb',
  [RXDB_DEFAULT]: 'rxdb',
  [POUCHDB]: 'pouchdb',
  [POUCHDB_DEFAULT]: 'pouchdb',
}

/** Documents that a peer sends and fetches at once, at most. */
export const RXDB_BATCH = 5_000
export const POUCHDB_BATCH = 1_000
export const DEFAULT_BATCH = 100

/** Whom the server of the bench knows, and how. */
export const USER = { userId: 'ada' }
export const TOKEN = 'a token of the bench'

/** Where the reference server tells of changes. */
export const CHANGES = '/v1/sync/changes'

/** A question and its answer. */
export type Exchange = readonly [asked: string, answered: string]

/** A message as it is compared, and as its raw JSON is counted. */
export interface PlainMessage {
  readonly id: string
  readonly role: string
  readonly content: unknown
  /** Unix milliseconds. */
  readonly createdAt: number
}

/** One device of one conversation. */
export interface DeviceOrder {
  readonly subject: SubjectName
  readonly durability: Durability
  /** Of the conversation, and of the database. */
  readonly name: string
  /** It writes, and sends; else it fetches. */
  readonly writes: boolean
}

/** What of a log is compared: its messages, in their order. */
export interface Held {
  readonly messages: number
  /** Bytes of their JSON, in UTF-8. */
  readonly bytes: number
  /** SHA-256 of it. */
  readonly hash: string
}

/** Where a conversation is at home. */
export interface HomeOrder {
  /** Of the home's API. */
  readonly url: string
  readonly token: string
  readonly session: string
  /** How it tells of changes: server-sent events, or the edge's socket. Absent: not at all. */
  readonly hints?: 'events' | 'socket'
}

/** What went over the wire, bodies alone. */
export interface Tally {
  readonly requests: number
  readonly upBytes: number
  readonly downBytes: number
}

/** All rows of a log of the library's. */
export async function rowsOf(store: Store, scope: Scope): Promise<readonly LogRow[]> {
  const log = store.open(scope)
  const rows = await readRows(log, 0)
  await log.close()
  return rows
}

/** The messages among them. */
export function messagesIn(rows: readonly LogRow[]): PlainMessage[] {
  return rows.flatMap(({ kind, id, body }) =>
    kind === 'message' && body !== null ? [{ ...JSON.parse(body), id }] : [],
  )
}

/** In pages and in Node. */
export async function heldIn(messages: readonly PlainMessage[]): Promise<Held> {
  const bytes = new TextEncoder().encode(rawJson(messages))
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))
  return {
    messages: messages.length,
    bytes: bytes.length,
    hash: Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join(''),
  }
}

function rawJson(messages: readonly PlainMessage[]): string {
  return JSON.stringify(
    messages.map(({ id, role, content, createdAt }) => ({ id, role, content, createdAt })),
  )
}

import { SECRET } from '../../kernel/context/secret.ts'
import type { Owner } from '../../kernel/feature.ts'
import { registerPages } from '../../kernel/log/register-pages.ts'
import { base64 } from '../../ports/base64.ts'
import { PlimsollError } from '../../ports/errors.ts'
import type { Json } from '../../ports/message.ts'
import type { Mark } from '../../ports/op.ts'
import { hasBody, type LogRow, type RegisterRow, type ScopeStore } from '../../ports/store.ts'
import type { TransferPart } from '../../ports/transfer.ts'
import { parseBody } from '../../text/json.ts'
import type { LogLine, RegisterLine, TransferLine } from './format.ts'
import { adding, isInternal, type KeyKind } from './register-kinds.ts'
import { attachmentsOf } from './rows.ts'

/** Most passes over a scope that goes on to change. */
const MOST_PASSES = 8

export interface ScopeExport {
  readonly store: ScopeStore
  readonly owner: Owner
  readonly parts: readonly TransferPart[]
  readonly kindOf: (key: string) => KeyKind | undefined
}

/**
 * The lines of one scope: its log with the attachments that messages name, its registers by key,
 * and those that were deleted; then what was written meanwhile. Reads a page of about 1 MiB at a
 * time. Keys are held in memory, values are not.
 *
 * @throws ERR_CONFLICT: something was forgotten meanwhile, or the scope changed at every look;
 * ERR_STORAGE: a row is not as it was written; ERR_DECRYPT: it cannot be read; ERR_NOT_CONFIGURED:
 * a register belongs to no feature in use
 */
export async function* exportScope({
  store,
  owner,
  parts,
  kindOf,
}: ScopeExport): AsyncGenerator<TransferLine> {
  /** Registers that were put and do not show among the live ones. */
  const keys = new Set<string>()
  const attached = new Set<string>()
  const partOf = (key: string): TransferPart | undefined => {
    const kind = kindOf(key)?.kind
    if (!kind && !isInternal(key)) throw notOwned(key)
    return kind?.owners.includes(owner) ? kind.part : undefined
  }
  const lineOf = (row: RegisterRow | undefined): readonly RegisterLine[] => {
    const part = row && (hasBody(row) ? partOf(row.key) : 'log')
    return row && part && parts.includes(part) ? [registerLine(part, row)] : []
  }
  const live = async function* (seq: number): AsyncGenerator<RegisterLine> {
    for await (const page of registerPages(store, ''))
      for (const row of page) {
        keys.delete(row.key)
        // What was put since is exported with the rows that say so.
        if (row.seq <= seq) yield* lineOf(row)
      }
  }
  if (!parts.includes('log')) {
    yield* live(Number.POSITIVE_INFINITY)
    return
  }
  let at = 0
  for (let pass = 0; pass < MOST_PASSES; pass++) {
    const { seq } = await store.head()
    while (at < seq) {
      const page = await store.changesSince(at)
      const rows = page.rows.filter((row) => row.seq <= seq)
      const last = rows.at(-1)
      const isForgotten = pass > 0 && rows.some(({ kind }) => kind === 'delete' || kind === 'erase')
      if (!last || isForgotten) throw changed('something was forgotten meanwhile')
      for (const ref of new Set(rows.flatMap(attachmentsOf))) {
        if (attached.has(ref)) continue
        attached.add(ref)
        const found = await store.attachment(ref)
        if (!found) continue
        const { id, mediaType, bytes } = found
        yield { type: 'attachment', id, mediaType, base64: base64(bytes) }
      }
      for (const row of rows) {
        if (row.kind === 'put') keys.add(row.id)
        // It is written beside the first of them, which may be new.
        if (row.kind === 'epoch') keys.add(SECRET)
        yield logLine(row)
      }
      at = last.seq
    }
    if (pass === 0) yield* live(seq)
    for (const key of keys) {
      const row = partOf(key) && (await store.register(key))
      if (row && row.seq > seq) continue
      keys.delete(key)
      yield* lineOf(row)
    }
    if ((await store.head()).seq === seq) return
  }
  throw changed('the scope changed at every look')
}

function logLine(row: LogRow): LogLine {
  if (row.unreadable) throw unreadable(row.id)
  const { kind, seq, opId, round = '', base = null, lane, sources, id, body } = row
  const value = body === null ? undefined : verbatim(id, body)
  if (kind === 'message')
    return { type: 'message', seq, opId, round, id, ...(value !== undefined && { message: value }) }
  if (kind === 'put' || kind === 'delete' || kind === 'erase')
    return { type: kind as 'put' | 'delete' | 'erase', seq, opId, id }
  return {
    ...(isKnown(kind) ? { type: kind } : { type: 'mark', kind }),
    seq,
    opId,
    base,
    ...(lane !== undefined && { lane }),
    ...(sources && { sources }),
    id,
    ...(value !== undefined && { mark: value }),
  }
}

function isKnown(kind: LogRow['kind']): kind is Mark['type'] {
  return kind === 'epoch' || kind === 'summary' || kind === 'rewind'
}

function registerLine(
  part: TransferPart,
  { key, version, sources, body, unreadable: isUnreadable }: RegisterRow,
): RegisterLine {
  if (isUnreadable) throw unreadable(key)
  return {
    type: 'register',
    part,
    key,
    version,
    ...(sources && { sources }),
    ...(body !== null && { value: verbatim(key, body) }),
  }
}

/** A body as JSON that gives the same bytes again. */
function verbatim(id: string, body: string): Json {
  const value = parseBody(id, body) as Json
  if (JSON.stringify(value) === body) return value
  throw new PlimsollError('ERR_STORAGE', `export: the body of ${id} is not what was written`, { id })
}

/**
 * Left out, it would be taken for what was forgotten, and be forgotten where the file is imported.
 */
function unreadable(id: string): PlimsollError {
  return new PlimsollError('ERR_DECRYPT', `export: ${id} cannot be decrypted`, { id })
}

/** Left out, it would be lost, and nobody would hear of it. */
function notOwned(key: string): PlimsollError {
  return new PlimsollError(
    'ERR_NOT_CONFIGURED',
    `exportFrom: register ${key} belongs to no feature in use: ${adding(key)}`,
    { id: key },
  )
}

function changed(reason: string): PlimsollError {
  return new PlimsollError('ERR_CONFLICT', `export: ${reason}, export it again`)
}

import type { Host } from '../../ports/host.ts'
import type { Scope } from '../../ports/op.ts'
import type { Store } from '../../ports/store.ts'
import type { TransferPart } from '../../ports/transfer.ts'
import { noteAudit } from '../governance/audit.ts'
import { invalid, isPlainObject } from '../json.ts'
import type { SessionInfo, Sessions } from '../sessions.ts'
import { exportScope } from './export-scope.ts'
import { FORMAT, fileOf, TRANSFER_PARTS, type TransferLine, VERSION } from './format.ts'
import { markdownOf } from './markdown.ts'

export interface ExportOptions {
  /** Default: all. See `docs/export.md` for what some of them alone can restore. */
  readonly parts?: readonly TransferPart[]
  /** `jsonl`, which can be imported again, or `markdown`, for reading. Default `jsonl`. */
  readonly format?: 'jsonl' | 'markdown'
}

export interface ExportParts {
  readonly store: Store
  readonly sessions: Sessions
  readonly host: Host
}

/** The lines of a scope, each with its end. @throws ERR_INVALID_ARGUMENT, before anything is read */
export function exportOf(
  parts: ExportParts,
  scope: Scope,
  options: ExportOptions = {},
): AsyncGenerator<string, void, undefined> {
  if (!isPlainObject(options)) throw invalid('export', 'options', 'must be an object')
  const { format = 'jsonl' } = options as ExportOptions
  if (format !== 'jsonl' && format !== 'markdown')
    throw invalid('export', 'format', 'must be jsonl or markdown')
  const wanted = checkParts('export', (options as ExportOptions).parts)
  const counts = { sessions: 0, lines: 0 }
  const lines = counted(linesOf(parts, scope, wanted), counts)
  const texts =
    format === 'markdown'
      ? markdownOf(lines, (sessionId) => parts.store.open({ ...scope, sessionId }))
      : fileOf(lines)
  return recorded(parts, scope, texts, counts)
}

/** Records it once all of it was read. */
async function* recorded(
  { store, host }: ExportParts,
  { sessionId, ...user }: Scope,
  texts: AsyncGenerator<string, void, undefined>,
  counts: Readonly<Record<string, number>>,
): AsyncGenerator<string, void, undefined> {
  yield* texts
  const target = sessionId === undefined ? {} : { target: sessionId }
  await noteAudit(store.open(user), host, { action: 'export', ...target, counts })
}

async function* counted(
  lines: AsyncGenerator<TransferLine>,
  counts: { sessions: number; lines: number },
): AsyncGenerator<TransferLine> {
  for await (const line of lines) {
    counts.lines++
    if (line.type === 'session') counts.sessions++
    yield line
  }
}

/** Parts in their own order, each once. @throws ERR_INVALID_ARGUMENT */
export function checkParts(operation: string, parts: unknown = TRANSFER_PARTS): readonly TransferPart[] {
  const names: readonly unknown[] = Array.isArray(parts) ? parts : []
  const isKnown = names.every((one) => TRANSFER_PARTS.includes(one as TransferPart))
  if (names.length === 0 || !isKnown)
    throw invalid(operation, 'parts', `must be a list of ${TRANSFER_PARTS.join(', ')}`)
  return TRANSFER_PARTS.filter((part) => names.includes(part))
}

/** What an export begins with. */
export function headerOf(of: 'user' | 'session', parts: readonly TransferPart[]): TransferLine {
  return { type: 'export', format: FORMAT, v: VERSION, of, parts }
}

/** What the lines of a session begin with. */
export function sessionLine(sessionId: string, info: Partial<SessionInfo> = {}): TransferLine {
  const { title, createdAt } = info
  return {
    type: 'session',
    sessionId,
    ...(title !== undefined && { title }),
    ...(createdAt !== undefined && { createdAt }),
  }
}

async function* linesOf(
  { store, sessions, host }: ExportParts,
  { sessionId, ...user }: Scope,
  parts: readonly TransferPart[],
): AsyncGenerator<TransferLine> {
  const session = async function* (id: string, info: SessionInfo | undefined) {
    yield sessionLine(id, info)
    const scope = store.open({ ...user, sessionId: id })
    try {
      yield* exportScope({ store: scope, owner: 'session', parts, host })
    } finally {
      await scope.close()
    }
  }
  if (sessionId !== undefined) {
    yield headerOf('session', parts)
    yield* session(sessionId, await sessions.get(sessionId))
    return
  }
  yield headerOf('user', parts)
  yield { type: 'user' }
  yield* exportScope({ store: store.open(user), owner: 'user', parts, host })
  for (let after: string | undefined; ; ) {
    const page = await sessions.list(after === undefined ? {} : { after })
    for (const info of page) yield* session(info.sessionId, info)
    after = page.at(-1)?.sessionId
    if (after === undefined) return
  }
}

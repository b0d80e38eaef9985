import type { Host } from '../../ports/host.ts'
import type { Scope } from '../../ports/op.ts'
import type { Store } from '../../ports/store.ts'
import type { TransferPart } from '../../ports/transfer.ts'
import { noteAudit } from '../audit.ts'
import type { SessionInfo } from '../../ports/session.ts'
import type { Sessions } from '../sessions.ts'
import type { CheckedExport } from './export-options.ts'
import { exportScope } from './export-scope.ts'
import { FORMAT, fileOf, type TransferLine, VERSION } from './format.ts'
import { markdownOf } from './markdown.ts'

export interface ExportParts {
  readonly store: Store
  readonly sessions: Sessions
  readonly host: Host
}

/** The lines of a scope, each with its end. */
export function exportOf(
  parts: ExportParts,
  scope: Scope,
  { format, parts: wanted }: CheckedExport,
): AsyncGenerator<string, void, undefined> {
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

import { noteAudit } from '../../features/audit.ts'
import { readSession, readSessions } from '../../features/read-sessions.ts'
import type { KernelMemory } from '../../kernel/feature.ts'
import { hiddenBy } from '../../kernel/log/fold.ts'
import { readRewinds } from '../../kernel/log/history.ts'
import { checkScope } from '../../kernel/memory.ts'
import type { Memory, SessionBase } from '../../ports/memory.ts'
import type { Scope } from '../../ports/op.ts'
import type { SessionInfo } from '../../ports/session.ts'
import type { TransferPart } from '../../ports/transfer.ts'
import { checkOptions } from '../../text/json.ts'
import { kernelOf, memoryOf } from '../kernel-of.ts'
import { type CheckedExport, checkExport, type ExportOptions } from './export-options.ts'
import { exportScope } from './export-scope.ts'
import { FORMAT, fileOf, type TransferLine, VERSION } from './format.ts'
import { markdownOf } from './markdown.ts'
import { kindsOf } from './register-kinds.ts'

/**
 * What is stored of a user, or of one session where the scope names one: JSON lines, each with its
 * end, which {@link importInto} reads back, or Markdown for reading. JSON lines hold messages and
 * marks with their ids, order, ops, trust and sources, what was forgotten as such, registers with
 * their versions, and the attachments that messages name. No line is longer than 1 MiB; a page is
 * read at a time. The same content gives the same bytes, under another user too.
 *
 * Once it was read to its end, it is recorded in the user's audit.
 *
 * @throws ERR_INVALID_ARGUMENT, at once; while it is read, ERR_CONFLICT: something was forgotten
 * meanwhile, so export again; ERR_DECRYPT: something cannot be read; ERR_NOT_CONFIGURED: a register
 * belongs to no feature in use; after the last line, as the store: it was not recorded
 * @example
 * ```ts
 * import { createWriteStream } from 'node:fs'
 * import { exportFrom } from 'plimsoll'
 *
 * const file = createWriteStream('ada.jsonl')
 * for await (const line of exportFrom(memory, { userId: 'ada' })) file.write(line)
 * file.end()
 * ```
 */
export function exportFrom(
  memory: Memory,
  scope: Scope,
  options?: ExportOptions,
): AsyncGenerator<string, void, undefined> {
  const { store, host, use } = memoryOf('exportFrom', memory)
  return exportOf({ store, host, use }, checkScope('exportFrom', scope), checkExport(options))
}

/**
 * A session's conversation as Markdown, for reading: who said what and when, calls and results,
 * summaries, and what was taken back or forgotten, as such. Piece by piece, a page is read at a
 * time; it is recorded as {@link exportFrom} is.
 *
 * @param options.parts what else of the session is to be read. Default: `['log']`
 * @throws as {@link exportFrom}
 * @example
 * ```ts
 * import { writeFile } from 'node:fs/promises'
 * import { exportMarkdown } from 'plimsoll'
 *
 * await writeFile('trip.md', exportMarkdown(session))
 * ```
 */
export function exportMarkdown(
  session: SessionBase,
  options: Pick<ExportOptions, 'parts'> = {},
): AsyncGenerator<string, void, undefined> {
  const { memory, user, sessionId } = kernelOf('exportMarkdown', session)
  const { store, host, use } = memory
  checkOptions('exportMarkdown', 'options', options, ['parts'])
  const checked = checkExport({ parts: options.parts ?? ['log'], format: 'markdown' })
  return exportOf({ store, host, use }, { ...user.scope, sessionId }, checked)
}

/** As much of a memory as an export needs. */
export type ExportParts = Pick<KernelMemory, 'store' | 'host' | 'use'>

/** The lines of a scope, each with its end. */
function exportOf(
  parts: ExportParts,
  scope: Scope,
  { format, parts: wanted }: CheckedExport,
): AsyncGenerator<string, void, undefined> {
  const counts = { sessions: 0, lines: 0 }
  const kindOf = kindsOf(parts.use)
  const lines = counted(linesOf(parts, scope, wanted, kindOf), counts)
  const texts = format === 'markdown' ? readable(parts, scope, lines, kindOf) : fileOf(lines)
  return recorded(parts, scope, texts, counts)
}

/** The same for reading. */
async function* readable(
  { store }: ExportParts,
  scope: Scope,
  lines: AsyncGenerator<TransferLine>,
  kindOf: ReturnType<typeof kindsOf>,
): AsyncGenerator<string, void, undefined> {
  let hidden: ReadonlySet<string> = new Set()
  const nameOf = (key: string): string => kindOf(key)?.name ?? key
  for await (const line of lines) {
    if (line.type === 'session') {
      const session = store.open({ ...scope, sessionId: line.sessionId })
      hidden = hiddenBy(await readRewinds(session))
      await session.close()
    }
    const text = markdownOf(line, { hidden, nameOf })
    if (text !== '') yield text
  }
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

/**
 * The lines of one scope alone, where a user's scopes are not in one store. @throws as
 * {@link exportFrom}
 */
export function exportScopeOf(
  memory: Memory,
  scope: Scope,
  parts: readonly TransferPart[],
): AsyncGenerator<TransferLine> {
  const { store, use } = memoryOf('exportFrom', memory)
  const owner = scope.sessionId === undefined ? 'user' : 'session'
  return exportScope({ store: store.open(scope), owner, parts, kindOf: kindsOf(use) })
}

/** What an export begins with. */
export function headerOf(of: 'user' | 'session', parts: readonly TransferPart[]): TransferLine {
  return { type: 'export', format: FORMAT, v: VERSION, of, parts }
}

/** What the lines of a session begin with. */
export function sessionLine(sessionId: string, info: Partial<SessionInfo> = {}): TransferLine {
  const { title, createdAt, project } = info
  return {
    type: 'session',
    sessionId,
    ...(title !== undefined && { title }),
    ...(createdAt !== undefined && { createdAt }),
    ...(project !== undefined && { project }),
  }
}

async function* linesOf(
  { store }: ExportParts,
  { sessionId, ...user }: Scope,
  parts: readonly TransferPart[],
  kindOf: ReturnType<typeof kindsOf>,
): AsyncGenerator<TransferLine> {
  const session = async function* (id: string, info: SessionInfo | undefined) {
    yield sessionLine(id, info)
    const scope = store.open({ ...user, sessionId: id })
    try {
      yield* exportScope({ store: scope, owner: 'session', parts, kindOf })
    } finally {
      await scope.close()
    }
  }
  if (sessionId !== undefined) {
    yield headerOf('session', parts)
    yield* session(sessionId, await readSession(store.open(user), sessionId))
    return
  }
  yield headerOf('user', parts)
  yield { type: 'user' }
  yield* exportScope({ store: store.open(user), owner: 'user', parts, kindOf })
  for (let after: string | undefined; ; ) {
    const page = await readSessions(store.open(user), after)
    for (const info of page) yield* session(info.sessionId, info)
    after = page.at(-1)?.sessionId
    if (after === undefined) return
  }
}

import { headerOf, sessionLine } from '../../operations/transfer/export.ts'
import {
  type ScopeLine,
  type SessionLine,
  type TransferLine,
  textsOf,
} from '../../operations/transfer/format.ts'
import { type ImportSection, importFile, importRecord } from '../../operations/transfer/import.ts'
import { ImportReport } from '../../operations/transfer/report.ts'
import { isPlimsollError } from '../../ports/errors.ts'
import type { Scope } from '../../ports/op.ts'
import type { SessionInfo } from '../../ports/session.ts'
import type { Imported, TransferPart } from '../../ports/transfer.ts'
import { type EdgeImportTrust, type ImportAnswer, type ImportCall, reportIn } from '../objects/transfer.ts'
import { fromWire } from '../wire.ts'
import { checkName } from './endpoint.ts'
import { askUser, onSession, onUser } from './objects.ts'
import type { AppSettings } from './settings.ts'

/** UTF-16 units of lines that one call of an object takes; an op that is longer goes by itself. */
const UNITS_A_CALL = 2 ** 19
const NEWLINE = 0x0a

/**
 * All that is stored of a user, object by object, as the lines of an export. It is read as it is
 * asked for; an object that fails on the way ends the stream without its last line.
 *
 * @throws what the user's object says, before anything is streamed
 */
export async function exportStream(
  settings: AppSettings,
  user: Scope,
  parts: readonly TransferPart[],
): Promise<ReadableStream<Uint8Array>> {
  const own = await onUser(settings, user, (object) => object.exportLines(user, parts))
  const bytes = allOf(settings, user, parts, own)
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await bytes.next()
      if (done) controller.close()
      else controller.enqueue(value)
    },
    async cancel() {
      await bytes.return(undefined)
    },
  })
}

async function* allOf(
  settings: AppSettings,
  user: Scope,
  parts: readonly TransferPart[],
  own: ReadableStream<Uint8Array>,
): AsyncGenerator<Uint8Array, void, undefined> {
  const encoder = new TextEncoder()
  let lines = 0
  let sessionCount = 0
  const written = function* (line: TransferLine): Generator<Uint8Array> {
    for (const text of textsOf(line)) {
      lines++
      yield encoder.encode(text)
    }
  }
  const passed = async function* (stream: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const chunk of stream) {
      for (const byte of chunk) if (byte === NEWLINE) lines++
      yield chunk
    }
  }
  yield* written(headerOf('user', parts))
  yield* written({ type: 'user' })
  yield* passed(own)
  for (let after: string | undefined; ; ) {
    const { json } = await askUser(settings, user, 'sessions', after === undefined ? {} : { after })
    const { sessions } = fromWire(JSON.parse(json)) as { readonly sessions: readonly SessionInfo[] }
    for (const info of sessions) {
      const scope = { ...user, sessionId: info.sessionId }
      const stream = await onSession(settings, scope, (object) => object.exportLines(scope, parts)).catch(
        // It was removed meanwhile.
        unlessNotFound,
      )
      if (!stream) continue
      sessionCount++
      yield* written(sessionLine(info.sessionId, info))
      yield* passed(stream)
    }
    after = sessions.at(-1)?.sessionId
    if (after === undefined) break
  }
  // An export that is not recorded is not whole.
  await onUser(settings, user, (object) =>
    object.record(user, { action: 'export', counts: { sessions: sessionCount, lines } }),
  )
  yield* written({ type: 'end', lines })
}

/**
 * Imports a file: the lines of each scope go to its object, about half a mebibyte at a time.
 *
 * @param trust what its user claims for it
 * @throws as `importInto`, and what objects say of budgets; what stands before that is written
 */
export async function importChunks(
  settings: AppSettings,
  user: Scope,
  chunks: AsyncIterable<string>,
  trust: EdgeImportTrust,
): Promise<Imported> {
  const report = new ImportReport()
  const open = (session: SessionLine | undefined): ImportSection => {
    if (!session)
      return sectionOf(undefined, report, (call) =>
        onUser(settings, user, (object) => object.importLines(user, { ...call, trust })),
      )
    const scope = { ...user, sessionId: checkName('sessionId', session.sessionId) }
    return sectionOf(session, report, (call) =>
      onSession(settings, scope, (object) => object.importLines(scope, { ...call, trust })),
    )
  }
  const record = async (): Promise<void> => {
    const input = importRecord(report.result)
    if (input) await onUser(settings, user, (object) => object.record(user, input))
  }
  try {
    await importFile(chunks, 'user', report, open)
  } catch (error) {
    // What stands before that is written.
    await record().catch(() => {})
    throw error
  }
  await record()
  return report.result
}

/** Sends lines to where they go, an op's never parted. */
function sectionOf(
  session: SessionLine | undefined,
  report: ImportReport,
  send: (call: Omit<ImportCall, 'trust'>) => Promise<ImportAnswer>,
): ImportSection {
  const { title, createdAt, project } = session ?? {}
  let isOther = false
  let texts: string[] = []
  let units = 0
  let last: ScopeLine | undefined
  const sent = async (): Promise<void> => {
    const lines = `[${texts.join()}]`
    texts = []
    units = 0
    const answered = await send({
      lines,
      isOther,
      ...(title !== undefined && { title }),
      ...(createdAt !== undefined && { createdAt }),
      ...(project !== undefined && { project }),
    })
    isOther = answered.isOther
    report.add(reportIn(answered))
  }
  return {
    sessionId: session?.sessionId,
    async take(line, number) {
      const isJoined = last?.type === 'attachment' || (last?.type === 'message' && isOf(line, last.seq))
      if (units >= UNITS_A_CALL && !isJoined) await sent()
      const text = JSON.stringify([number, line])
      texts.push(text)
      units += text.length
      last = line
    },
    done: sent,
  }
}

function isOf(line: ScopeLine, seq: number): boolean {
  return line.type === 'message' && line.seq === seq
}

function unlessNotFound(error: unknown): undefined {
  if (!isPlimsollError(error, 'ERR_NOT_FOUND')) throw error
}

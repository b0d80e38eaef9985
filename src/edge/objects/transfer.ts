/** Exporting and importing the scope that an object holds: what crosses between it and the Worker, and what it does. */
import type { ScopeLine, TransferLine } from '../../operations/transfer/format.ts'
import { textsOf } from '../../operations/transfer/format.ts'
import { ScopeImport, type ScopeImportParts } from '../../operations/transfer/import-scope.ts'
import { ImportReport } from '../../operations/transfer/report.ts'
import { defaultCounter } from '../../counters/default.ts'
import type { CreateMemoryOptions } from '../../create-memory.ts'
import { webHost } from '../../platform/web.ts'
import type { ScopeStore } from '../../ports/store.ts'
import type { Imported } from '../../ports/transfer.ts'

/** Lines of one scope, as many as one call takes. */
export interface ImportCall {
  /** JSON of `[number, line]` for each of them. */
  readonly lines: string
  /** What the call before said of the scope. */
  readonly isOther: boolean
  /** What the file says of the session. */
  readonly title?: string
  readonly createdAt?: number
}

export interface ImportAnswer {
  /** JSON of the report. */
  readonly report: string
  readonly isOther: boolean
}

/** Whose scope it is, and what its rows are made with. */
export interface ImportTarget extends Pick<ScopeImportParts, 'owner' | 'onWrite'> {
  readonly store: ScopeStore
  readonly sessionId?: string
  readonly memory: Omit<CreateMemoryOptions, 'store' | 'clock' | 'newId'>
}

/** Imports lines from the hands of whom they belong to: no label of theirs counts for more than the user's own word. */
export async function importLines(
  { memory, ...target }: ImportTarget,
  { lines, isOther }: ImportCall,
): Promise<ImportAnswer> {
  const { counter = defaultCounter, recall, facts = {}, retention } = memory
  const isDated = retention?.checkpoint !== undefined
  const report = new ImportReport()
  const to = new ScopeImport(
    { ...target, most: 'user', report, host: webHost, counter, recall, facts, isDated },
    { isOther },
  )
  for (const [number, line] of JSON.parse(lines) as readonly (readonly [number, ScopeLine])[])
    await to.take(line, number)
  await to.flush()
  return { report: JSON.stringify(report.result), ...to.state }
}

export function reportIn({ report }: ImportAnswer): Imported {
  return JSON.parse(report) as Imported
}

/** UTF-16 units of text that are sent at once. */
const CHUNK = 2 ** 16

/** The lines as a byte stream, which is read as it is asked for: only these cross from an object to its callers. */
export function lineStream(lines: AsyncGenerator<TransferLine>): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  return new ReadableStream({
    type: 'bytes',
    async pull(controller) {
      let text = ''
      while (text.length < CHUNK) {
        const next = await lines.next()
        if (next.done) break
        for (const part of textsOf(next.value)) text += part
      }
      if (text !== '') controller.enqueue(encoder.encode(text))
      else {
        controller.close()
        controller.byobRequest?.respond(0)
      }
    },
    async cancel() {
      await lines.return(undefined)
    },
  })
}

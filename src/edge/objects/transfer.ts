/**
 * Exporting and importing the scope that an object holds: what crosses between it and the Worker,
 * and what it does.
 */
import type { ScopeLine, TransferLine } from '../../operations/transfer/format.ts'
import { textsOf } from '../../operations/transfer/format.ts'
import { type ImportTrust, importScope } from '../../operations/transfer/import.ts'
import type { Scope } from '../../ports/op.ts'
import type { Imported } from '../../ports/transfer.ts'
import type { EdgeMemory } from '../features.ts'

/** What a caller may claim for a file: never the app's own word. */
export type EdgeImportTrust = Extract<ImportTrust, 'user' | 'import'>

/** Lines of one scope, as many as one call takes. */
export interface ImportCall {
  /** JSON of `[number, line]` for each of them. */
  readonly lines: string
  /** What the call before said of the scope. */
  readonly isOther: boolean
  /** How far labels are believed: at most as the word of whose they are. */
  readonly trust: EdgeImportTrust
  /** What the file says of the session. */
  readonly title?: string
  readonly createdAt?: number
  readonly project?: string
}

export interface ImportAnswer {
  /** JSON of the report. */
  readonly report: string
  readonly isOther: boolean
}

/** Imports lines; no label of theirs counts for more than their trust. */
export async function importLines(
  memory: EdgeMemory,
  scope: Scope,
  { lines, isOther, trust }: Omit<ImportCall, 'title' | 'createdAt' | 'project'>,
  onWrite: () => Promise<void>,
): Promise<ImportAnswer> {
  const numbered = JSON.parse(lines) as readonly (readonly [number, ScopeLine])[]
  const { report, ...state } = await importScope(memory, scope, numbered, { most: trust, isOther, onWrite })
  return { report: JSON.stringify(report), ...state }
}

export function reportIn({ report }: ImportAnswer): Imported {
  return JSON.parse(report) as Imported
}

/** UTF-16 units of text that are sent at once. */
const CHUNK = 2 ** 16

/**
 * The lines as a byte stream, which is read as it is asked for: only these cross from an object to
 * its callers.
 */
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

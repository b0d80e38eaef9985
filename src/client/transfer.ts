import type { Imported, TransferPart } from '../ports/transfer.ts'
import { RequestError } from './error.ts'
import { linesIn } from './events.ts'
import type { CallOptions } from './options.ts'
import { pathOf, queryOf } from './paths.ts'
import type { Transport } from './transport.ts'

export interface ExportOptions {
  /** Default: all. */
  readonly parts?: readonly TransferPart[]
}

export interface ImportOptions {
  /**
   * How far labels of the file are believed, at most: `user` for a backup of the caller's own, with
   * its documents, settings and shared facts; `import` for any other file, without these. Default
   * `import`.
   */
  readonly trust?: 'user' | 'import'
}

/** How the last line of an export begins. */
const END = '{"type":"end"'

/**
 * All that is stored of the caller as JSON lines, each with its end, as it comes.
 *
 * @throws ERR_INTERRUPTED: it broke off, so what came before is not whole
 */
export async function* exportLines(
  transport: Transport,
  { signal, timeoutMs, ...query }: ExportOptions & CallOptions = {},
): AsyncGenerator<string, void, undefined> {
  const path = pathOf('me', 'export') + queryOf(query)
  const response = await transport.stream('GET', path, { signal, timeoutMs })
  let last = ''
  try {
    for await (const line of linesIn(response.body, /\n/, signal)) {
      signal?.throwIfAborted()
      last = line
      yield `${line}\n`
    }
  } catch (cause) {
    signal?.throwIfAborted()
    throw brokenOff(cause)
  }
  signal?.throwIfAborted()
  if (!last.startsWith(END)) throw brokenOff()
}

/** Imports what an export gave. */
export function importText(
  transport: Transport,
  text: string,
  { trust, ...options }: ImportOptions & CallOptions = {},
): Promise<Imported> {
  return transport.json('POST', pathOf('me', 'import') + queryOf({ trust }), {
    ...options,
    raw: { type: 'application/jsonl', text },
  })
}

function brokenOff(cause?: unknown): RequestError {
  return new RequestError('ERR_INTERRUPTED', 'export: it broke off', { cause })
}

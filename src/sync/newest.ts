import { messageIn } from '../kernel/log/bodies.ts'
import { invalid } from '../ports/options.ts'
import { type LogRow, PAGE_ROWS, type ScopeStore } from '../ports/store.ts'
import type { Newest } from '../ports/sync.ts'
import { utf8Length } from '../ports/utf8-length.ts'

/** Entries that are looked at first, from the newest back. */
const FIRST_ROWS = 64
/** Where so many messages in a row are too old, what is before them is too: clocks may be wrong. */
const MOST_OLD = 64

/**
 * The seq before the newest ops, as far as they are asked for: one at least.
 *
 * @param head the newest seq that counts
 * @throws ERR_INVALID_ARGUMENT: `since` is asked for, and messages are encrypted
 */
export async function seqBefore(
  scope: Pick<ScopeStore, 'entries'>,
  head: number,
  { bytes = Number.POSITIVE_INFINITY, since }: Newest,
): Promise<number> {
  // A store knows its head by its newest row.
  let from = head - 1
  let left = bytes
  let old = 0
  let to: string | undefined
  for (let last = FIRST_ROWS; ; last = Math.min(PAGE_ROWS, 2 * last)) {
    const { rows, more } = await scope.entries({ ...(to !== undefined && { to }), last })
    for (const row of rows.toReversed()) {
      if (row.seq > head) continue
      if (left <= 0 || old === MOST_OLD) return from
      left -= bodyBytes(row)
      const time = since === undefined ? Number.POSITIVE_INFINITY : timeOf(row)
      if (time === undefined) continue
      const isOld = time < (since ?? 0)
      old = isOld ? old + 1 : 0
      if (!isOld) from = row.seq - 1
    }
    to = rows[0]?.id
    // What comes before the first entry goes with it.
    if (to === undefined || !more) return old > 0 ? from : 0
  }
}

/** UTF-8 bytes of its body. */
export function bodyBytes({ body }: LogRow): number {
  return utf8Length(body ?? '')
}

/**
 * When a message was written, in Unix milliseconds; nothing, where it is none, or was forgotten.
 *
 * @throws ERR_INVALID_ARGUMENT: it is encrypted
 */
export function timeOf(row: LogRow): number | undefined {
  if (row.kind !== 'message') return undefined
  try {
    return messageIn(row)?.createdAt
  } catch {
    throw invalid('keepLocal', 'days', 'goes by the times of messages, which are encrypted here')
  }
}

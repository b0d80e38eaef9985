import { messageIn } from '../../kernel/log/bodies.ts'
import { slotOf } from '../../kernel/log/decide.ts'
import { attachmentsIn } from '../../kernel/log/seal.ts'
import type { Message } from '../../ports/message.ts'
import type { Name } from '../../ports/op.ts'
import { isEntry, type LogRow, type MarkRow } from '../../ports/store.ts'

/** What a row says is deleted. */
export function emptiedIn(row: LogRow): readonly Name[] {
  if (row.kind === 'delete') return [row.id as Name]
  return isEntry(row) && row.body === null ? [`entry:${row.id}`] : []
}

/** The marks that rows make current. */
export function marksOf(rows: readonly LogRow[]): readonly MarkRow[] {
  return rows.flatMap(({ kind, lane, id, seq, chain }) => {
    const slot = slotOf(kind, lane)
    return slot === undefined || chain === undefined ? [] : [{ slot, id, seq, chain }]
  })
}

/** Ids of the attachments that a row's message names. */
export function attachmentsOf(row: LogRow): readonly string[] {
  const content = row.kind === 'message' ? contentOf(row) : undefined
  return content === undefined ? [] : attachmentsIn({ content })
}

/** A message that nobody can read any more names nothing. */
function contentOf(row: LogRow): Message['content'] | undefined {
  try {
    return messageIn(row)?.content
  } catch {
    return undefined
  }
}

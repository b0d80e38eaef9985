import { auditIn } from '../features/audit.ts'
import { checkUser } from '../kernel/memory.ts'
import type { AuditQuery, AuditRecord } from '../ports/audit.ts'
import type { Memory, UserScope } from '../ports/memory.ts'
import { checkOptions } from '../text/json.ts'
import { memoryOf } from './kernel-of.ts'

/**
 * What was promoted, forgotten, erased, exported, imported or given another key, the newest first:
 * ids and counts, no text. The newest 512 records are kept; an erase of the user leaves its own
 * alone.
 *
 * @throws ERR_INVALID_ARGUMENT
 */
export async function readAudit(
  memory: Memory,
  user: UserScope,
  query: AuditQuery = {},
): Promise<readonly AuditRecord[]> {
  const { store } = memoryOf('readAudit', memory)
  checkOptions('readAudit', 'query', query, ['after', 'first'])
  return auditIn(store.open(checkUser('readAudit', user)), query)
}

import { checkReadable } from '../../kernel/log/bodies.ts'
import { isRepeated, look } from '../../kernel/log/once.ts'
import { sealOp } from '../../kernel/log/seal.ts'
import { PlimsollError } from '../../ports/errors.ts'
import type { Fact } from '../../ports/fact.ts'
import type { ScopeStore } from '../../ports/store.ts'
import { notFound } from '../failures.ts'
import { FACT, factIn } from './fact.ts'

/**
 * The fact that an op wrote which was sent before, as it stands now; undefined: it was not.
 *
 * @throws ERR_DUPLICATE_ID (the op wrote something else), ERR_NOT_FOUND (the fact was forgotten
 * since), ERR_DECRYPT
 */
export async function readFirst(
  operation: string,
  store: ScopeStore,
  opId: string,
): Promise<Fact | undefined> {
  const [result] = await store.commit(
    [sealOp({ kind: 'put', opId, key: FACT, base: null, value: null })],
    look,
  )
  if (!result || !isRepeated(result)) return undefined
  const { rows } = await store.changesSince(result.seq - 1)
  const [written] = rows
  if (!written?.id.startsWith(FACT))
    throw new PlimsollError('ERR_DUPLICATE_ID', `${operation}: op ${opId} wrote something else`, { id: opId })
  const row = checkReadable(await store.register(written.id))
  const fact = row && factIn(row)
  if (!fact) throw noFact(operation, written.id.slice(FACT.length))
  return fact
}

export function noFact(operation: string, id: string): PlimsollError {
  return notFound(operation, `no fact ${id}`, id)
}

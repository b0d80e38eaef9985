import type { SessionHistoryTransactionArgs } from '@openai/agents'
import { PlimsollError } from '../../ports/errors.ts'
import type { Json } from '../../ports/message.ts'
import { checkItem, type Item } from './messages.ts'
import { encode } from './plain.ts'

/** A change of the history, as JSON. */
export type Transaction =
  | { readonly type: 'append_items'; readonly items: readonly Item[] }
  | {
      readonly type: 'replace_suffix'
      readonly expectedSuffix: readonly Item[]
      readonly replacement: readonly Item[]
    }

/** What a caller asks for, read once. @throws ERR_INVALID_ARGUMENT; it names no content */
export function snapshot(args: SessionHistoryTransactionArgs): {
  readonly operationId: string
  readonly transaction: Transaction
} {
  const read = attempt('arguments are invalid.', () => ({
    operationId: args.operationId as unknown,
    transaction: args.transaction as unknown,
  }))
  const { operationId, transaction } = read
  if (typeof operationId !== 'string' || operationId.trim() === '')
    throw refused('operationId must be a non-empty string.')
  if (typeof transaction !== 'object' || transaction === null) throw refused('must be an object.')
  const copy = attempt(ITEMS, () => {
    // What cannot be cloned, a proxy for example, is not what it seems.
    structuredClone(transaction)
    return encode(transaction)
  }) as { readonly [field: string]: Json }
  if (copy.type === 'append_items') {
    const { items } = fieldsOf('append', copy, ['items'])
    return { operationId, transaction: { type: copy.type, items: items as readonly Item[] } }
  }
  if (copy.type !== 'replace_suffix')
    throw new PlimsollError('ERR_INVALID_ARGUMENT', 'Unsupported session history transaction type.')
  const { expectedSuffix, replacement } = fieldsOf('suffix', copy, ['expectedSuffix', 'replacement'])
  return {
    operationId,
    transaction: { type: copy.type, expectedSuffix, replacement } as Transaction,
  }
}

const ITEMS = 'items contain invalid or unsupported data.'

function fieldsOf(
  kind: string,
  transaction: { readonly [field: string]: Json },
  names: readonly string[],
): { readonly [name: string]: readonly Item[] } {
  const isWhole = Object.keys(transaction).length === names.length + 1
  if (!isWhole || !names.every((name) => Array.isArray(transaction[name])))
    throw new PlimsollError('ERR_INVALID_ARGUMENT', `Session history ${kind} transaction fields are invalid.`)
  return attempt(ITEMS, () =>
    Object.fromEntries(names.map((name) => [name, (transaction[name] as readonly Json[]).map(checkItem)])),
  )
}

function attempt<Value>(reason: string, work: () => Value): Value {
  try {
    return work()
  } catch {
    throw refused(reason)
  }
}

function refused(reason: string): PlimsollError {
  return new PlimsollError('ERR_INVALID_ARGUMENT', `Session history transaction ${reason}`)
}

import { Dexie } from 'dexie'
import { PlimsollError } from '../ports/errors.ts'
import { isInsideTransaction } from './idb-transaction.ts'

/**
 * What must not run in a transaction: the browser commits it as soon as nothing of its own is
 * awaited.
 */
const TIMERS = ['setTimeout', 'setInterval', 'fetch'] as const
const CRYPTO = [
  'encrypt',
  'decrypt',
  'sign',
  'verify',
  'digest',
  'generateKey',
  'deriveKey',
  'deriveBits',
  'importKey',
  'exportKey',
  'wrapKey',
  'unwrapKey',
] as const

/**
 * For tests and development: from now on timers, `fetch` and `crypto.subtle` throw where they are
 * called inside a transaction of Dexie's or of this store, whose end they would not hold back. Some
 * engines let it pass most of the time, which is worse.
 *
 * @returns what takes the guard away
 * @throws ERR_INVALID_ARGUMENT, from what is guarded
 */
export function guardTransactions(): () => void {
  const undo = [
    ...TIMERS.map((name) => guard(globalThis as unknown as Functions, name)),
    ...CRYPTO.map((name) => guard(crypto.subtle as unknown as Functions, name)),
  ]
  return () => {
    for (const one of undo) one()
  }
}

type Functions = Record<string, (...args: unknown[]) => unknown>

function guard(owner: Functions, name: string): () => void {
  const before = Object.getOwnPropertyDescriptor(owner, name)
  const original = owner[name]
  if (!original) return () => {}
  const guarded = (...args: unknown[]): unknown => {
    if (Dexie.currentTransaction || isInsideTransaction())
      throw new PlimsollError('ERR_INVALID_ARGUMENT', `${name}: must not be called inside a transaction`, {
        argument: name,
      })
    return original.apply(owner, args)
  }
  Object.defineProperty(owner, name, { value: guarded, configurable: true, writable: true })
  return () => {
    if (before) Object.defineProperty(owner, name, before)
    else delete owner[name]
  }
}

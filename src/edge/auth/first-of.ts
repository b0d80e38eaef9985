import { isPlimsollError } from '../../ports/errors.ts'
import type { Authenticate } from '../principal.ts'

/**
 * Tries authenticators in order: the first principal holds. One that throws does not keep the
 * others from vouching. Where none does, the first failure that says nothing about the token (keys
 * that cannot be read) is thrown, else the first refusal; where none threw, nobody calls.
 */
export function firstOf(...authenticators: readonly Authenticate[]): Authenticate {
  return async function authenticate(request) {
    const thrown: unknown[] = []
    for (const authenticate of authenticators) {
      try {
        const principal = await authenticate(request)
        if (principal !== undefined) return principal
      } catch (error) {
        thrown.push(error)
      }
    }
    if (thrown.length === 0) return undefined
    throw thrown.find((error) => !isPlimsollError(error, 'ERR_UNAUTHENTICATED')) ?? thrown[0]
  }
}

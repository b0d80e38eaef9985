import { KERNEL, type KernelMemory, type KernelSession } from '../kernel/feature.ts'
import type { Slot } from '../kernel/slot.ts'
import { PlimsollError } from '../ports/errors.ts'
import type { Memory, SessionBase } from '../ports/memory.ts'
import { invalid } from '../text/json.ts'

/**
 * What an operation needs of a session. @throws ERR_INVALID_ARGUMENT: it is none of this library's
 */
export function kernelOf(operation: string, session: SessionBase): KernelSession {
  return inside(operation, 'session', session, 'sessionId')
}

/**
 * What an operation needs of a memory. @throws ERR_INVALID_ARGUMENT: it is none of this library's
 */
export function memoryOf(operation: string, memory: Memory): KernelMemory {
  return inside(operation, 'memory', memory, 'host')
}

/**
 * What a feature provides for an operation. @throws ERR_NOT_CONFIGURED: the feature is not in use
 */
export function need<Value>(
  session: Pick<KernelSession, 'one'>,
  operation: string,
  slot: Slot<Value>,
  feature: string,
): Value {
  const value = session.one(slot)
  if (value !== undefined) return value
  throw new PlimsollError(
    'ERR_NOT_CONFIGURED',
    `${operation}: add ${feature}() to what the memory has in use`,
  )
}

function inside<Kernel extends object>(
  operation: string,
  argument: string,
  given: unknown,
  has: keyof Kernel,
): Kernel {
  const kernel = (given as { readonly [KERNEL]?: Kernel } | null | undefined)?.[KERNEL]
  // A memory stands where a session is due, or the other way round.
  if (kernel === undefined || !(has in kernel))
    throw invalid(operation, argument, `must be a ${argument} of this library`)
  return kernel
}

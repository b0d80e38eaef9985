import type { ContextOptionsOf, SessionBase } from '../ports/memory.ts'
import { kernelOf } from './kernel-of.ts'

/**
 * Checks options as `context` does, without reading anything: for a caller that writes first and
 * builds a context then, and would not want to have written for a call that cannot be.
 *
 * @throws ERR_INVALID_ARGUMENT
 */
export function checkContext<F extends object>(session: SessionBase<F>, options: ContextOptionsOf<F>): void {
  kernelOf('checkContext', session).check(options)
}

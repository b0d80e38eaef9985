import type { AbortSignalLike, Controller, Host, Timeout } from '../ports/host.ts'
import { newSecret } from './secret.ts'
import { uuidv7 } from './uuid.ts'

/** Of the Web's own functions, those for time. */
declare function setTimeout(run: () => void, ms: number): unknown
declare function clearTimeout(timer: unknown): void
declare class AbortController {
  readonly signal: AbortSignalLike
  abort(reason: unknown): void
}

/** The host of every platform with Web standards: browsers, Workers, Node. */
export const webHost: Host = {
  now: () => Date.now(),
  newId: uuidv7,
  newSecret,
  timeout,
  controller,
}

function timeout(ms: number): Timeout {
  const controller = new AbortController()
  const timer = setTimeout(() => controller.abort(new Error(`no answer within ${ms} ms`)), ms)
  return { signal: controller.signal, clear: () => clearTimeout(timer) }
}

function controller(): Controller {
  return new AbortController()
}

import { type ErrorCode, type ErrorDetails, isPlimsollError, PlimsollError } from '../../ports/errors.ts'

/** A refusal that travels as a value: what a method throws, the runtime logs as uncaught. */
interface Refusal {
  readonly plimsollRefusal: ErrorDetails & { readonly code: ErrorCode; readonly message: string }
}

/** What the runtime calls itself. */
const HANDLERS = ['constructor', 'fetch', 'alarm', 'webSocketMessage', 'webSocketClose', 'webSocketError']
/** Failures, which the runtime is to log. */
const FAILURE = /^ERR_(?:DECRYPT|INTERNAL|INTERRUPTED|LAW_BROKEN|MODEL|STORAGE|TIMEOUT|UPGRADE)/

/** Makes the methods of an object's class answer what they refuse, for {@link accepted}. */
export function answerRefusals({ prototype }: { readonly prototype: object }): void {
  for (const [name, descriptor] of Object.entries(Object.getOwnPropertyDescriptors(prototype))) {
    const method: unknown = descriptor.value
    if (typeof method !== 'function' || HANDLERS.includes(name)) continue
    const value = async function (this: unknown, ...given: readonly unknown[]): Promise<unknown> {
      try {
        return await method.apply(this, given)
      } catch (error) {
        return refusalOf(error)
      }
    }
    Object.defineProperty(prototype, name, { ...descriptor, value })
  }
}

/** What a method, or with {@link acceptedResponse} a `fetch`, refused. @throws a failure */
export function refusalOf(error: unknown): Refusal {
  if (!isPlimsollError(error) || FAILURE.test(error.code)) throw error
  return { plimsollRefusal: { ...error, message: error.message } as Refusal['plimsollRefusal'] }
}

/** What an object answered to an upgrade. @throws what it refused, in JSON */
export async function acceptedResponse(response: Response): Promise<Response> {
  if (response.status !== 101) accepted(await response.json())
  return response
}

/** What an object answered. @throws what it refused */
export function accepted<Result>(answer: Result): Result {
  const { plimsollRefusal: refusal } = (answer ?? {}) as Partial<Refusal>
  if (refusal === undefined) return answer
  const { code, message, ...details } = refusal
  throw new PlimsollError(code, message, details)
}

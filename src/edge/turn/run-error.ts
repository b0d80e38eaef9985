import { type ErrorCode, isPlimsollError, PlimsollError } from '../../ports/errors.ts'

/**
 * What a model behind the edge may say of itself; anything else that it throws is ERR_MODEL. That
 * its server refuses the key is not for callers to know, who would take it for having no model.
 */
const OF_A_MODEL: ReadonlySet<ErrorCode> = new Set([
  'ERR_CONTEXT_TOO_LARGE',
  'ERR_ENTRY_TOO_LARGE',
  'ERR_MODEL',
  'ERR_OVERLOADED',
  'ERR_RATE_LIMIT',
  'ERR_TIMEOUT',
])

/**
 * For people, one sentence a code: what an error says of itself may hold content, or a provider's
 * secrets.
 */
const SENTENCES: { readonly [Code in ErrorCode]?: string } = {
  ERR_BUDGET_TOO_SMALL: 'what was said does not fit into the budget',
  ERR_CONFLICT: 'others changed the session',
  ERR_CONTEXT_TOO_LARGE: 'the request is too large for the model',
  ERR_ENTRY_TOO_LARGE: 'the reply is too large',
  ERR_INTERNAL: 'something failed; ask for it again',
  ERR_INTERRUPTED: 'the reply was interrupted; ask for it again',
  ERR_LIMIT: 'a limit is reached',
  ERR_MODEL: 'the model failed; try again',
  ERR_NOT_CONFIGURED: 'there is no model here',
  ERR_OVERLOADED: 'too much to do; try again later',
  ERR_RATE_LIMIT: 'the budget is used up; try again later',
  ERR_STORAGE: 'the reply could not be stored; try again',
  ERR_STORAGE_FULL: 'there is no room left',
  ERR_TIMEOUT: 'the reply took too long',
}

/** The code of what ended a run. What is no error of ours is a fault of ours. */
export function codeOf(error: unknown): ErrorCode {
  return isPlimsollError(error) ? error.code : 'ERR_INTERNAL'
}

/**
 * As it stands in an `error` chunk: the code, a colon, a sentence that is the same for all errors
 * of that code.
 */
export function runErrorText(code: ErrorCode): string {
  return `${code}: ${SENTENCES[code] ?? 'the reply failed'}`
}

/** What a model threw, as an error of ours that does not say which model, or whose, it is. */
export function modelError(cause: unknown): PlimsollError {
  const known = isPlimsollError(cause) && OF_A_MODEL.has(cause.code) ? cause : undefined
  const { code = 'ERR_MODEL', retryAfter } = known ?? {}
  return new PlimsollError(code, `the model: ${OF_MODELS[code] ?? SENTENCES[code]}`, {
    ...(OF_MODELS[code] !== undefined && retryAfter !== undefined && { retryAfter }),
    cause,
  })
}

/** Where a model asks to be left alone: the budget that is used up is not the caller's. */
const OF_MODELS: { readonly [Code in ErrorCode]?: string } = {
  ERR_RATE_LIMIT: 'it is asked too often; try again later',
  ERR_OVERLOADED: 'it has too much to do; try again later',
}

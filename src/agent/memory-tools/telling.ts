import { type ErrorCode, isPlimsollError } from '../../ports/errors.ts'

/** What a model may do about it. */
const HINTS: { readonly [code in ErrorCode]?: string } = {
  ERR_CONFLICT: 'Look at what is remembered now before you try again.',
  ERR_DUPLICATE_ID: 'Say it in one call of its own.',
  ERR_ENTRY_TOO_LARGE: 'Say it in fewer words.',
  ERR_INVALID_ARGUMENT: '',
  ERR_LIMIT: 'A limit is reached: go on without it, or first give up what is no longer needed.',
  ERR_NOT_FOUND: 'Use only names and ids that the context or a memory tool gave.',
}

/**
 * What was refused, and so did nothing, is explained to the model in plain words. All else that
 * fails is thrown as it is.
 */
export async function telling<Value>(work: Promise<Value>): Promise<Value> {
  try {
    return await work
  } catch (error) {
    const hint = isPlimsollError(error) ? HINTS[error.code] : undefined
    if (hint === undefined) throw error
    const reason = (error as Error).message.replace(/^\w+: /, '')
    throw new Error(`nothing was done: ${reason}. ${hint}`.trim(), { cause: error })
  }
}

import { defaultCounter } from '../counters/default.ts'
import { loadO200k } from '../counters/o200k.ts'
import { charsPerToken, utf8Bound } from '../counters/simple.ts'
import type { Counter } from '../ports/counter.ts'
import { isPlimsollError } from '../ports/errors.ts'
import { type CounterName, UsageError } from './arguments.ts'

const MISSING = 'gpt-tokenizer, which counts exactly, could not be loaded (npm install gpt-tokenizer)'

/**
 * The counter of that name, the exact one if none is named. Its tokenizer is an optional peer:
 * without it an unnamed counter becomes the estimate and `warn` is called, a named one throws
 * {@link UsageError}.
 */
export async function loadCounter(
  name: CounterName | undefined,
  warn: (message: string) => void,
  load: () => Promise<Counter> = loadO200k,
): Promise<Counter> {
  if (name === 'default') return defaultCounter
  if (name === 'chars') return charsPerToken()
  if (name === 'bytes') return utf8Bound
  try {
    return await load()
  } catch (error) {
    if (!isPlimsollError(error, 'ERR_COUNTER_UNAVAILABLE')) throw error
    if (name) throw new UsageError(`--counter o200k: ${MISSING}: ${error.message}`)
    warn(`${MISSING}; using the default counter, so the figures are estimates`)
    return defaultCounter
  }
}

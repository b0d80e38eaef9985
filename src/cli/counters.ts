import { charsPerToken, utf8Bound } from '../core/count.ts'
import type { Counter } from '../ports/counter.ts'
import { type CounterName, UsageError } from './arguments.ts'

const MISSING = 'gpt-tokenizer, which counts exactly, is not installed (npm install gpt-tokenizer)'

type LoadExact = () => Promise<Counter>
const loadExact: LoadExact = async () => (await import('../counters/o200k.ts')).o200k

/**
 * The counter of that name, the exact one if none is named. Its tokenizer is an optional peer: without it an unnamed
 * counter becomes the estimate and `warn` is told, a named one throws {@link UsageError}.
 */
export async function loadCounter(
  name: CounterName | undefined,
  warn: (message: string) => void,
  load: LoadExact = loadExact,
): Promise<Counter> {
  if (name === 'chars') return charsPerToken()
  if (name === 'bytes') return utf8Bound
  try {
    return await load()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error
    if (name) throw new UsageError(`--counter o200k: ${MISSING}`)
    warn(`${MISSING}; counting 4 characters a token instead, so the figures are estimates`)
    return charsPerToken()
  }
}

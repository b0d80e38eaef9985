import type { AbortSignalLike } from '../ports/host.ts'

/** What an answer gives, unless a signal aborts before. @throws the signal's reason */
export function unlessEnded<Answer>(signal: AbortSignalLike, answer: Promise<Answer>): Promise<Answer> {
  return new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason))
    answer.then(resolve, reject)
  })
}

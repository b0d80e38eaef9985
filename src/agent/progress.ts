import { identifiers } from '../features/text/identifiers.ts'
import { asText } from '../kernel/count.ts'
import { canonical, checkCount, checkOptions, invalid } from '../kernel/text/json.ts'
import type { Middleware, ToolCallEnd } from './middleware.ts'

/** Numbers of 1 or more. */
export interface ProgressOptions {
  /** So many times the same call, name and input, is stuck. Default 3. */
  readonly sameCall?: number
  /** So many times the same error of the same tool is stuck. Default 3. */
  readonly sameError?: number
  /**
   * So many steps in a row whose calls and results hold no new name (path, id, address …) are
   * stuck. Default 5.
   */
  readonly stale?: number
  /** How often the model gets a nudge before the run is stopped; 0 or more. Default 2. */
  readonly nudges?: number
}

/**
 * Notices a run that gets nowhere: tells the model in the tail, and stops the run if that does not
 * help, with a reason that begins with `stuck`. A step that is not stuck and brings a new name
 * resets the count of nudges. Order 50; fails open.
 *
 * @throws ERR_INVALID_ARGUMENT
 */
export function progress(options: ProgressOptions = {}): Middleware {
  checkOptions('progress', 'options', options, ['sameCall', 'sameError', 'stale', 'nudges'])
  const { sameCall = 3, sameError = 3, stale = 5, nudges = 2 } = options
  for (const [name, value] of Object.entries({ sameCall, sameError, stale }))
    if (checkCount('progress', name, value) === 0) throw invalid('progress', name, 'must be 1 or more')
  checkCount('progress', 'nudges', nudges)
  return {
    name: 'progress',
    order: 50,
    kind: 'enricher',
    start: () => {
      const calls = new Map<string, number>()
      const errors = new Map<string, number>()
      const names = new Set<string>()
      let told = 0
      /** Steps in a row without a new name. */
      let without = 0
      let ended: ToolCallEnd[] = []

      /** What the step that ended is stuck in, if it is. */
      const look = (): string | undefined => {
        const known = names.size
        let stuck: string | undefined
        for (const { call, output, isError } of ended) {
          const input = canonical(call.input)
          const result = asText(output)
          for (const name of [...identifiers(input), ...identifiers(result)]) names.add(name)
          if (count(calls, `${call.name} ${input}`) >= sameCall)
            stuck ??= `the same call ${sameCall} times or more: ${call.name}`
          if (isError && count(errors, `${call.name} ${result}`) >= sameError)
            stuck ??= `the same error of ${call.name} ${sameError} times or more`
        }
        ended = []
        without = names.size > known ? 0 : without + 1
        if (!stuck && without >= stale) stuck = `${without} steps brought nothing new`
        if (!stuck && without === 0) told = 0
        return stuck
      }

      return {
        beforeModelCall: ({ step }) => {
          const stuck = step > 1 ? look() : undefined
          if (stuck === undefined) return undefined
          if (told >= nudges) return { stop: { reason: `stuck: ${stuck}` } }
          told++
          return { nudge: `You seem to be stuck: ${stuck}. Try another way, or say what you need.` }
        },
        afterTool: (end) => {
          ended.push(end)
        },
      }
    },
  }
}

function count(counts: Map<string, number>, key: string): number {
  const times = (counts.get(key) ?? 0) + 1
  counts.set(key, times)
  return times
}

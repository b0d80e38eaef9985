import { asText } from '../kernel/count.ts'
import type { Json } from '../ports/message.ts'
import { hashText } from '../text/hash.ts'
import { canonical, checkCount, checkOptions, invalid } from '../text/json.ts'
import type { Middleware, Proposal, ToolCallEnd } from './middleware.ts'

export interface ProgressOptions {
  /**
   * So many times in a row the same call with the same result is stuck, and so is a cycle of up to
   * four such calls. 2 or more. Default 3.
   */
  readonly repeats?: number
  /**
   * So many steps in a row without a new output are stuck; three times as many where their calls
   * are new and succeed, as those of a tool that only says that it is done. 1 or more. Default 5.
   */
  readonly stale?: number
  /** How often the model gets a nudge before the last step; 0 or more. Default 1. */
  readonly nudges?: number
}

const LONGEST_CYCLE = 4
/** Of what `stale` counts, a step whose calls are new and succeed is this part. */
const PARTS = 3

/**
 * Notices a run that gets nowhere. What counts is what a call is, its tool and canonical input, and
 * what it gives. The model gets a nudge in the tail; if that does not help, one last step without
 * tools, so that the run ends with an answer: its `detail` begins with `stuck`, and its `stoppedBy`
 * is `progress`. A new output resets the count of nudges. Order 50; fails open.
 *
 * @throws ERR_INVALID_ARGUMENT
 */
export function progress(options: ProgressOptions = {}): Middleware {
  checkOptions('progress', 'options', options, ['repeats', 'stale', 'nudges'])
  const { repeats = 3, stale = 5, nudges = 1 } = options
  if (checkCount('progress', 'repeats', repeats) < 2)
    throw invalid('progress', 'repeats', 'must be 2 or more')
  if (checkCount('progress', 'stale', stale) === 0) throw invalid('progress', 'stale', 'must be 1 or more')
  checkCount('progress', 'nudges', nudges)
  return {
    name: 'progress',
    order: 50,
    kind: 'enricher',
    start: ({ past = [] }) => {
      const calls = new Set<string>()
      const outputs = new Set<string>()
      /** The newest calls with their results, as many as the longest cycle needs. */
      const newest: { readonly name: string; readonly key: string }[] = []
      let told = 0
      /** Steps without a new output, in parts of one. */
      let without = 0
      let wasNewCall = false
      let ended: Pick<ToolCallEnd, 'call' | 'output' | 'isError'>[] = []

      /** What the step that ended is stuck in, if it is. */
      const look = (): string | undefined => {
        let isNew = false
        let isNewCall = false
        for (const { call, output, isError } of ended) {
          const key = `${call.name} ${canonical(call.input)}`
          const result = hashText(asText(output))
          isNew ||= !outputs.has(result)
          isNewCall ||= !calls.has(key) && !isError && !isEmpty(output)
          calls.add(key)
          outputs.add(result)
          newest.push({ name: call.name, key: `${key} ${result}` })
        }
        ended = []
        newest.splice(0, newest.length - LONGEST_CYCLE * repeats)
        if (isNew) without = told = 0
        else if (isNewCall) without += 1
        else if (!wasNewCall) without += PARTS
        // What is called again after a new call looks at what that has done.
        wasNewCall = isNewCall
        const cycle = cycleIn(newest, repeats)
        if (cycle.length === 1) return `the same call with the same result ${repeats} times: ${cycle[0]}`
        if (cycle.length > 1) return `the same ${cycle.length} calls ${repeats} times: ${cycle.join(', ')}`
        return without >= stale * PARTS ? 'no step brought anything new for a while' : undefined
      }

      const propose = (step: number): Proposal | undefined => {
        const stuck = step > 1 ? look() : undefined
        if (stuck === undefined) return undefined
        const nudge = `You seem to be stuck: ${stuck}.`
        if (told++ < nudges) return { nudge: `${nudge} Try another way, or say what you need.` }
        return {
          nudge: `${nudge} No tool can be called any more: answer with what you have, and say what is missing.`,
          last: { reason: `stuck: ${stuck}` },
        }
      }

      for (const { step, calls: made } of past) {
        propose(step)
        ended.push(...made)
      }

      return {
        beforeModelCall: ({ step }) => propose(step),
        afterTool: (end) => {
          ended.push(end)
        },
      }
    },
  }
}

/** Names of the shortest cycle that the newest calls have gone through so often; none: empty. */
function cycleIn(
  newest: readonly { readonly name: string; readonly key: string }[],
  repeats: number,
): readonly string[] {
  for (let length = 1; length <= LONGEST_CYCLE; length++) {
    const all = newest.slice(-length * repeats)
    if (all.length < length * repeats) break
    const cycle = all.slice(0, length)
    if (all.every(({ key }, index) => key === cycle[index % length]?.key))
      return cycle.map(({ name }) => name)
  }
  return []
}

/** Whether a result says nothing: no text, no items, no fields. */
function isEmpty(output: Json): boolean {
  if (typeof output === 'string') return output.trim() === ''
  return output === null || (typeof output === 'object' && Object.keys(output).length === 0)
}

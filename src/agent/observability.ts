import { checkOptions } from '../kernel/text/json.ts'
import type { CallStatus } from './events.ts'
import type { CallUsage, Middleware } from './middleware.ts'

/** One model call or tool call that has ended. */
export type CallRecord =
  | {
      readonly type: 'model'
      readonly step: number
      /** How many model calls of the run have ended, this one included. */
      readonly count: number
      /** Milliseconds, the building of the context included. */
      readonly ms: number
      readonly status: 'ok' | 'failed'
      readonly usage?: CallUsage
    }
  | {
      readonly type: 'tool'
      readonly step: number
      /** How many tool calls of the run have ended, this one included. */
      readonly count: number
      /** Milliseconds, checks and recording included. */
      readonly ms: number
      readonly status: CallStatus
      readonly name: string
      readonly callId: string
    }

export interface ObservabilityOptions {
  /** Contract: told of each call after it ended. Default: nobody is. */
  readonly sink?: (record: CallRecord) => void | Promise<void>
}

/** Times and counts the calls of a run. Order 5; fails open. @throws ERR_INVALID_ARGUMENT */
export function observability(options: ObservabilityOptions = {}): Middleware {
  checkOptions('observability', 'options', options, ['sink'])
  const { sink } = options
  return {
    name: 'observability',
    order: 5,
    kind: 'enricher',
    start: ({ now }) => {
      if (!sink) return {}
      let models = 0
      let tools = 0
      let modelBegan = now()
      const toolsBegan = new Map<string, number>()
      return {
        beforeModelCall: () => {
          modelBegan = now()
        },
        afterModelCall: (end) => {
          const { step, status } = end
          const usage = end.status === 'ok' ? { usage: end.call } : {}
          return sink({ type: 'model', step, count: ++models, ms: now() - modelBegan, status, ...usage })
        },
        beforeTool: ({ call }) => {
          toolsBegan.set(keyOf(call), now())
        },
        afterTool: ({ step, status, call }) => {
          const { name, callId } = call
          const began = toolsBegan.get(keyOf(call)) ?? now()
          toolsBegan.delete(keyOf(call))
          return sink({ type: 'tool', step, count: ++tools, ms: now() - began, status, name, callId })
        },
      }
    },
  }
}

function keyOf({ entry, index }: { readonly entry: string; readonly index: number }): string {
  return JSON.stringify([entry, index])
}

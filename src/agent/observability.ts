import { hashText } from '../text/hash.ts'
import { checkOptions } from '../text/json.ts'
import type { CallStatus } from './events.ts'
import type { CallUsage, Middleware } from './middleware.ts'

/** Where a call stands in the trace of its run, in the sizes of W3C Trace Context. */
export interface CallSpan {
  /** Of the run: 32 hex digits. */
  readonly traceId: string
  /** 16 hex digits. */
  readonly spanId: string
  /** Of a model call, the run's own span; of a tool call, the model call that asked for it. */
  readonly parentId: string
  /** Unix milliseconds; the building of the context, checks and recording are between them. */
  readonly start: number
  readonly end: number
}

/** One model call or tool call that has ended. */
export type CallRecord = CallSpan & (ModelRecord | ToolRecord)

type ModelRecord = {
  readonly type: 'model'
  readonly step: number
  /** How many model calls of the run have ended, this one included. */
  readonly count: number
  readonly status: 'ok' | 'failed'
  readonly usage?: CallUsage
}

type ToolRecord = {
  readonly type: 'tool'
  readonly step: number
  /** How many tool calls of the run have ended, this one included. */
  readonly count: number
  readonly status: CallStatus
  readonly name: string
  readonly callId: string
}

export interface ObservabilityOptions {
  /** Contract: told of each call after it ended. Default: nobody is. */
  readonly sink?: (record: CallRecord) => void | Promise<void>
}

/**
 * Times and counts the calls of a run, as spans of one trace. Order 5; fails open.
 *
 * @throws ERR_INVALID_ARGUMENT
 */
export function observability(options: ObservabilityOptions = {}): Middleware {
  checkOptions('observability', 'options', options, ['sink'])
  const { sink } = options
  return {
    name: 'observability',
    order: 5,
    kind: 'enricher',
    start: ({ now, newId, message, past = [] }) => {
      if (!sink) return {}
      // A run that goes on with another one goes on with its trace.
      const run = message ?? newId()
      const digits = (count: number, of: string): string => hashText(`${run} ${of}`).slice(0, count)
      const traceId = digits(32, 'trace')
      const modelSpan = (step: number): string => digits(16, `model ${step}`)
      let models = past.length
      let tools = past.flatMap(({ calls }) => calls).length
      let modelBegan = now()
      const toolsBegan = new Map<string, number>()
      return {
        beforeModelCall: () => {
          modelBegan = now()
        },
        afterModelCall: (end) => {
          const { step, status } = end
          const usage = end.status === 'ok' ? { usage: end.call } : {}
          return sink({
            type: 'model',
            traceId,
            spanId: modelSpan(step),
            parentId: digits(16, 'run'),
            start: modelBegan,
            end: now(),
            step,
            count: ++models,
            status,
            ...usage,
          })
        },
        beforeTool: ({ call }) => {
          toolsBegan.set(keyOf(call), now())
        },
        afterTool: ({ step, status, call }) => {
          const { name, callId } = call
          const key = keyOf(call)
          const end = now()
          const start = toolsBegan.get(key) ?? end
          toolsBegan.delete(key)
          return sink({
            type: 'tool',
            traceId,
            spanId: digits(16, `tool ${key}`),
            parentId: modelSpan(step),
            start,
            end,
            step,
            count: ++tools,
            status,
            name,
            callId,
          })
        },
      }
    },
  }
}

function keyOf({ entry, index }: { readonly entry: string; readonly index: number }): string {
  return JSON.stringify([entry, index])
}

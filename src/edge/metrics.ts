import type { LogLine } from './app/settings.ts'
import type { RunLine } from './objects/run-line.ts'

/** What takes data points, as a binding of Workers Analytics Engine does. */
export interface MetricsDataset {
  writeDataPoint(point: {
    readonly indexes: string[]
    readonly blobs: string[]
    readonly doubles: number[]
  }): void
}

/** Hooks of `createApp` and of a session's object that write a data point a line. */
export interface Metrics {
  readonly log: (line: LogLine) => void
  readonly onRun: (line: RunLine) => void
}

/**
 * Writes requests and runs as data points, without an id of a person. What is not there is an empty
 * text, or 0. Of a request: index `request`; blobs route, method, code; doubles status,
 * milliseconds, tokens. Of a run: index `run`; blobs model, status, code; doubles calls,
 * milliseconds, tokens, input, cached, written to the cache and output tokens, dollars.
 *
 * @example In a Worker:
 * ```ts
 * import { createApp, metricsTo } from 'plimsoll/hono'
 *
 * export default createApp((env: Env) => ({
 *   objects: env,
 *   authenticate: whoIs,
 *   log: metricsTo(env.METRICS).log,
 * }))
 * ```
 */
export function metricsTo(dataset: MetricsDataset): Metrics {
  return {
    log: ({ route, method, code = '', status, milliseconds, tokens = 0 }) =>
      dataset.writeDataPoint({
        indexes: ['request'],
        blobs: [route, method, code],
        doubles: [status, milliseconds, tokens],
      }),
    onRun: ({ model = '', status, code = '', calls, milliseconds, tokens = 0, cost = 0, ...usage }) => {
      const { inputTokens, cachedInputTokens, cacheWriteTokens, outputTokens } = usage
      dataset.writeDataPoint({
        indexes: ['run'],
        blobs: [model, status, code],
        doubles: [
          ...[calls, milliseconds, tokens],
          ...[inputTokens, cachedInputTokens, cacheWriteTokens, outputTokens, cost],
        ],
      })
    },
  }
}

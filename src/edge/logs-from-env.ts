import { PlimsollError } from '../ports/errors.ts'
import { logMost } from './app/log-most.ts'
import type { LogLine } from './app/settings.ts'
import { type MetricsDataset, metricsTo } from './metrics.ts'
import type { RunLine } from './objects/run-line.ts'

/** Variables and bindings of a Worker that say what is told of requests and runs. */
export interface LogEnv {
  /** What is logged: `failures`, or `all`: each request and each run too. Default `failures`. */
  readonly LOG?: string
  /** A dataset of Analytics Engine, for figures of requests and runs. Default: none. */
  readonly METRICS?: MetricsDataset
}

/** `log` of `createApp`, by the environment. @throws ERR_NOT_CONFIGURED */
export function requestLogOf(env: LogEnv): (line: LogLine) => void {
  const { isAll, metrics } = logsIn(env)
  return (line) => {
    if (isAll && line.status < 500) console.log(JSON.stringify(line))
    else logMost(line)
    metrics?.log(line)
  }
}

/** `onRun` of a session's object, by the environment. @throws ERR_NOT_CONFIGURED */
export function runLogOf(env: LogEnv): (line: RunLine) => void {
  const { isAll, metrics } = logsIn(env)
  return (line) => {
    if (isAll) console.log(JSON.stringify(line))
    metrics?.onRun(line)
  }
}

function logsIn({ LOG = '', METRICS }: LogEnv) {
  if (LOG !== '' && LOG !== 'failures' && LOG !== 'all')
    throw new PlimsollError('ERR_NOT_CONFIGURED', 'settings: LOG must be failures or all')
  return { isAll: LOG === 'all', metrics: METRICS && metricsTo(METRICS) }
}

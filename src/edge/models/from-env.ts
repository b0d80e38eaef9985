import { demoModel } from '../../agent/demo-model.ts'
import { webHost } from '../../platform/web.ts'
import { PlimsollError } from '../../ports/errors.ts'
import type { Host } from '../../ports/host.ts'
import type { Model } from '../../ports/model.ts'
import { checkSettings } from '../check-settings.ts'
import { openAICompatibleModel } from './openai-compatible.ts'
import { STEADY_OPTIONS, type SteadyOptions } from './steady-model.ts'
import { workersAIModel } from './workers-ai.ts'

/**
 * Bindings and variables of a worker that say which model it calls. An empty text counts as absent.
 */
export interface ModelEnv {
  /**
   * A server that speaks OpenAI's Chat Completions, for example `https://api.openai.com/v1`. Needs
   * `MODEL_ID`.
   */
  readonly MODEL_BASE_URL?: string
  /** Its key, a secret. Default: none is sent. */
  readonly MODEL_API_KEY?: string
  /** What that server calls the model. */
  readonly MODEL_ID?: string
  /** Workers AI. Needs `WORKERS_AI_MODEL`; is not asked where there is a `MODEL_BASE_URL`. */
  readonly AI?: Ai
  readonly WORKERS_AI_MODEL?: string
}

export interface ModelOfOptions extends Omit<SteadyOptions, 'host'> {
  /** Whether a demo may stand in where no model is configured. Default `false`. */
  readonly isDevelopment?: boolean
  /** Default `webHost`. */
  readonly host?: Host
  readonly fetch?: typeof fetch
}

/**
 * The model that a worker is configured to call: a server by its base URL, else Workers AI, else in
 * development {@link demoModel}. It is made without a request.
 *
 * @throws ERR_NOT_CONFIGURED: there is none, a part of its configuration is missing, or a key would
 * travel without TLS
 */
export function modelOf(env: ModelEnv, given: ModelOfOptions = {}): Model {
  checkSettings('modelOf', given, ['isDevelopment', 'fetch', ...STEADY_OPTIONS])
  const { isDevelopment = false, host = webHost, fetch, ...options } = given
  if (isDevelopment && isBare(env)) return demoModel(host)
  const { MODEL_BASE_URL: baseUrl, MODEL_API_KEY: apiKey, MODEL_ID: modelId, AI: binding } = env
  const steady = { ...options, host }
  if (baseUrl) {
    if (!modelId) throw lacking('MODEL_ID', 'is missing')
    checkUrl(baseUrl, Boolean(apiKey))
    return openAICompatibleModel({
      ...steady,
      baseUrl,
      modelId,
      ...(apiKey && { apiKey }),
      ...(fetch && { fetch }),
    })
  }
  if (modelId || apiKey) throw lacking('MODEL_BASE_URL', 'is missing')
  if (env.WORKERS_AI_MODEL) {
    if (!binding) throw lacking('AI', 'is not bound')
    return workersAIModel({ ...steady, binding, modelId: env.WORKERS_AI_MODEL })
  }
  throw lacking('MODEL_BASE_URL', 'is missing, and so is WORKERS_AI_MODEL: there is no model to call')
}

/** Whether no model is configured, so that in development a script answers. */
export function isBare(env: ModelEnv): boolean {
  return !(env.MODEL_BASE_URL || env.MODEL_ID || env.MODEL_API_KEY || env.WORKERS_AI_MODEL)
}

/** Servers of one's own are often asked without TLS; a key must not be. */
function checkUrl(baseUrl: string, hasKey: boolean): void {
  const { protocol, hostname } = URL.canParse(baseUrl)
    ? new URL(baseUrl)
    : { protocol: undefined, hostname: '' }
  const isLocal = ['localhost', '127.0.0.1', '[::1]'].includes(hostname)
  if (protocol === 'https:' || (protocol === 'http:' && (isLocal || !hasKey))) return
  throw lacking(
    'MODEL_BASE_URL',
    protocol === 'http:' ? 'must be https where there is a key' : 'is not a URL of http or https',
  )
}

function lacking(setting: string, reason: string): PlimsollError {
  return new PlimsollError('ERR_NOT_CONFIGURED', `modelOf: ${setting} ${reason}`)
}

import { createExecutionContext, env, waitOnExecutionContext } from 'cloudflare:test'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import app from '../../../worker/index.ts'
import { sessionSettings } from '../../../worker/settings.ts'
import { ORIGIN } from './caller.ts'

async function ask(path: string, settings: Partial<typeof env>, init: RequestInit = {}) {
  const context = createExecutionContext()
  const response = await app.fetch(new Request(ORIGIN + path, init), { ...env, ...settings }, context)
  await waitOnExecutionContext(context)
  return { status: response.status, body: (await response.json()) as Record<string, unknown> }
}

beforeEach(() => void vi.spyOn(console, 'error').mockReturnValue(undefined))
afterEach(() => void vi.restoreAllMocks())

describe('a variable of the objects that is wrong', () => {
  const wrong: readonly (readonly [string, string])[] = [
    ['BUDGET', 'many'],
    ['BUDGET', '1.5'],
    ['MAX_OUTPUT_TOKENS', '16000'],
    ['APPENDS_PER_MINUTE', '0'],
    ['GUEST_MODEL_TOKENS_PER_DAY', 'OFF'],
    ['RETENTION_DAYS_LOG', '0'],
    ['RECALL', 'no'],
    ['LEASE', 'yes'],
    ['MODEL_PRICES', 'free'],
  ]
  it.each(wrong)('is no fault of a caller’s, and is named everywhere: %s=%s', async (name, value) => {
    const calls = [
      ask('/health/ready', { [name]: value }),
      ask('/v1/guests', { [name]: value }, { method: 'POST' }),
    ]
    for (const call of calls)
      expect(await call).toMatchObject({
        status: 503,
        body: { code: 'ERR_NOT_CONFIGURED', detail: expect.stringContaining(name) },
      })
  })

  it.each([
    [{ MODEL_ID: 'gpt-fake' }, 'MODEL_BASE_URL is missing'],
    [{ MODEL_BASE_URL: 'https://models.test/v1' }, 'MODEL_ID is missing'],
    [{ MODEL_BASE_URL: 'models.test', MODEL_ID: 'gpt-fake' }, 'MODEL_BASE_URL is not a URL'],
    [{ WORKERS_AI_MODEL: '@cf/meta/llama' }, 'AI is not bound'],
  ])('is named where it is half of a model: %j', async (settings, reason) => {
    expect(await ask('/health/ready', settings)).toMatchObject({
      status: 503,
      body: { code: 'ERR_NOT_CONFIGURED', detail: expect.stringContaining(reason) },
    })
  })

  it('is none where it is the key of a model that is named later', async () => {
    const { body } = await ask('/health/ready', { MODEL_API_KEY: 'sk-secret' })
    expect(body).toMatchObject({ parts: { settings: { status: 'ok' } } })
  })

  it('is none where it is empty', async () => {
    const names = ['BUDGET', 'MAX_OUTPUT_TOKENS', 'SYSTEM', 'RECALL', 'LEASE', 'RETENTION_DAYS_LOG']
    const empty = Object.fromEntries(names.map((name) => [name, '']))
    // Other tests make models and alarms fail, of which the deployment's object knows.
    const { body } = await ask('/health/ready', empty)
    expect(body).toMatchObject({ parts: { settings: { status: 'ok' } } })
    expect(sessionSettings({ ...env, ...empty }).memory.budget).toMatchObject({ contextWindow: 16_000 })
  })
})

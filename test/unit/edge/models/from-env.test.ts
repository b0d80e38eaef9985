import { describe, expect, it } from 'vitest'
import { isBare, type ModelEnv, modelOf } from '../../../../src/edge/models/from-env.ts'
import { isPlimsollError, mapStore } from '../../../../src/index.ts'
import { fullMemory } from '../../../contract/full-memory.ts'

const code = (env: ModelEnv, isDevelopment = false): string => {
  try {
    return modelOf(env, { isDevelopment }).id
  } catch (error) {
    return isPlimsollError(error) ? `${error.code} ${error.message}` : String(error)
  }
}

const server = {
  MODEL_BASE_URL: 'https://models.test/v1',
  MODEL_ID: 'gpt-fake',
  MODEL_API_KEY: 'sk-very-secret',
}
const AI = { run: async () => ({}) } as never

describe('the model that a worker calls', () => {
  it('is a server where there is a base URL, whatever else there is', () => {
    expect(code(server)).toBe('gpt-fake')
    expect(code({ ...server, AI, WORKERS_AI_MODEL: '@cf/meta/llama' }, true)).toBe('gpt-fake')
  })

  it('is Workers AI where that is bound and named', () => {
    expect(code({ AI, WORKERS_AI_MODEL: '@cf/meta/llama' })).toBe('@cf/meta/llama')
  })

  it('is a demo in development alone', () => {
    expect(code({}, true)).toBe('demo')
    expect(code({ MODEL_BASE_URL: '', MODEL_ID: '', MODEL_API_KEY: '' }, true)).toBe('demo')
    expect(code({})).toMatch(/^ERR_NOT_CONFIGURED .*MODEL_BASE_URL is missing/)
    expect(code({ AI })).toMatch(/^ERR_NOT_CONFIGURED/)
  })

  it.each([
    [{}, true],
    [{ MODEL_BASE_URL: '', WORKERS_AI_MODEL: '' }, true],
    [{ AI }, true],
    ...Object.entries({ ...server, WORKERS_AI_MODEL: 'm' }).map(
      ([name, value]) => [{ [name]: value }, false] as const,
    ),
  ] as const)('is said not to be there where nothing names one: %j: %s', (env, isNone) => {
    expect(isBare(env)).toBe(isNone)
  })

  it.each([
    [{ MODEL_BASE_URL: 'https://models.test/v1' }, 'MODEL_ID is missing'],
    [{ MODEL_ID: 'gpt-fake' }, 'MODEL_BASE_URL is missing'],
    [{ MODEL_API_KEY: 'sk-very-secret' }, 'MODEL_BASE_URL is missing'],
    [{ WORKERS_AI_MODEL: '@cf/meta/llama' }, 'AI is not bound'],
    [{ ...server, MODEL_BASE_URL: 'models.test' }, 'is not a URL'],
    [{ ...server, MODEL_BASE_URL: 'ftp://models.test' }, 'is not a URL'],
  ])('is not guessed from half a configuration, not even in development: %j', (env, reason) => {
    expect(code(env, true)).toMatch(/^ERR_NOT_CONFIGURED/)
    expect(code(env, true)).toContain(reason)
    expect(code(env, true)).not.toContain('secret')
  })

  it('gets no key without TLS, but for this machine', () => {
    const plain = 'http://models.test/v1'
    expect(code({ ...server, MODEL_BASE_URL: plain })).toMatch(/^ERR_NOT_CONFIGURED .*must be https/)
    expect(code({ MODEL_BASE_URL: plain, MODEL_ID: 'llama' })).toBe('llama')
    expect(code({ ...server, MODEL_BASE_URL: 'http://127.0.0.1:11434/v1' })).toBe('gpt-fake')
    expect(code({ ...server, MODEL_BASE_URL: 'http://localhost.evil.test/v1' })).toMatch(
      /^ERR_NOT_CONFIGURED/,
    )
  })
})

describe('Workers AI', () => {
  const contextOf = async () => {
    const session = fullMemory({ store: mapStore(), budget: 16_000 }).session({ userId: 'ada' })
    await session.append({ role: 'user', content: 'The launch code is 4711.' })
    return session.context()
  }

  it('is called by its binding, and streams', async () => {
    const calls: { readonly model: string; readonly input: Record<string, unknown> }[] = []
    const binding = {
      run: async (model: string, input: Record<string, unknown>) => {
        calls.push({ model, input })
        const events = [
          '{"response":"Hello "}',
          '{"response":"Ada."}',
          '{"usage":{"prompt_tokens":9,"completion_tokens":2}}',
          '[DONE]',
        ]
        return new Response(events.map((data) => `data: ${data}\n\n`).join('')).body
      },
    }
    const model = modelOf({ AI: binding as never, WORKERS_AI_MODEL: '@cf/meta/llama' })
    const events = []
    for await (const event of model.complete({ context: await contextOf() })) events.push(event)
    expect(events.at(-1)).toMatchObject({
      type: 'finish',
      message: { content: 'Hello Ada.' },
      usage: { inputTokens: 9 },
    })
    expect(calls).toMatchObject([{ model: '@cf/meta/llama', input: { stream: true } }])
  })

  it('is tried again while it is out of capacity, and its failures have codes', async () => {
    let count = 0
    const binding = {
      run: async () => {
        count++
        throw new Error('3040: Capacity temporarily exceeded, please try again. 4711')
      },
    }
    const model = modelOf({ AI: binding as never, WORKERS_AI_MODEL: '@cf/meta/llama' }, { random: () => 0 })
    const failed = (async () => {
      for await (const _ of model.complete({ context: await contextOf() }));
    })()
    await expect(failed).rejects.toMatchObject({
      code: 'ERR_RATE_LIMIT',
      message: expect.not.stringContaining('4711'),
    })
    expect(count).toBe(3)
  })
})

import { globSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { unstable_readConfig } from 'wrangler'
import * as whole from 'zod'

const readConfig = (env?: string) =>
  unstable_readConfig({ config: 'wrangler.toml', ...(env && { env }) }, { hideWarnings: true })

/** Bindings are not inherited: one that is forgotten would be missed at the first call alone. */
describe.each(['staging', 'production', 'ai'])('the environment %s of wrangler.toml', (env) => {
  const base = readConfig()
  const config = readConfig(env)

  it('has the objects of the Worker without one', () => {
    expect(config.durable_objects).toEqual(base.durable_objects)
    expect(config.migrations).toEqual(base.migrations)
  })

  it('is that Worker, or one of its own', () =>
    expect(config.name).toBe(env === 'staging' ? 'plimsoll-staging' : base.name))
})

describe('what the Worker is bundled with in the place of Zod', () => {
  const LEFT_OUT = [
    'compile',
    'core',
    'fromJSONSchema',
    'locales',
    'memoizer',
    'regexes',
    'toZod',
    'util',
    'withParser',
  ]

  it('is taken for it', () => {
    const zod = './worker/zod.ts'
    expect(readConfig().alias).toEqual({ zod, 'zod/v4': zod })
  })

  it('is the same but for what is left out', async () => {
    const part = await import(new URL('../../worker/zod.ts', import.meta.url).href)
    const left = Object.entries(whole.z).filter(([name]) => !LEFT_OUT.includes(name))
    expect(left).toHaveLength(Object.keys(whole.z).length - LEFT_OUT.length)
    for (const z of [part, part.z])
      for (const [name, value] of left) expect([name, z[name] === value]).toEqual([name, true])
    expect(Object.keys(part.z)).toHaveLength(left.length)
  })

  it('has what each package of the Worker, and each route, asks of it by name', () => {
    const packages = [
      '@hono/zod-*',
      '@asteasolutions/zod-to-openapi',
      'ai',
      '@ai-sdk/*',
      'workers-ai-provider',
    ]
    const files = globSync([
      ...packages.map((name) => `node_modules/${name}/dist/*.{js,mjs}`),
      'src/{edge,bridges}/**/*.ts',
    ])
    // Of types alone there is nothing when it runs.
    const asks = new RegExp(`\\bz(\\d?\\$?\\d*)\\.(${LEFT_OUT.join('|')})\\b(?!\\.(\\$|util\\.Literal))`, 'g')
    const found = files.flatMap((file) => readFileSync(file, 'utf8').match(asks) ?? [])
    expect(files.length).toBeGreaterThan(100)
    expect(found).toEqual([])
  })
})

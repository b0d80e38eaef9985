import { describe, expect, it } from 'vitest'
import { unstable_readConfig } from 'wrangler'

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

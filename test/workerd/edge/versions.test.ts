import { describe, expect, it } from 'vitest'
import { Caller } from './caller.ts'

describe('a version', () => {
  it.each(['op-1', '"quoted"', 'a"b', '100%', 'über-日本-🚆', 'a b, c'])(
    'named %s by its writer is a tag that can be sent back',
    async (key) => {
      const caller = new Caller()
      const path = `/v1/sessions/${await caller.session()}/checkpoint`
      const put = (step: number, headers: Record<string, string>) =>
        caller.call('PUT', path, { value: { step } }, headers)
      const tag = (await put(1, { 'Idempotency-Key': key })).headers.get('ETag') ?? ''
      expect(tag).toMatch(/^"[!#-~]+"$/)
      expect((await caller.call('GET', path)).headers.get('ETag')).toBe(tag)
      expect((await caller.call('GET', path, undefined, { 'If-None-Match': tag })).status).toBe(304)
      // What a proxy that packs answers makes of it.
      expect((await caller.call('GET', path, undefined, { 'If-None-Match': `W/${tag}` })).status).toBe(304)
      expect((await put(2, { 'If-Match': '"another"' })).status).toBe(409)
      expect((await put(2, { 'If-Match': tag })).status).toBe(200)
      expect((await put(3, { 'If-Match': tag })).status).toBe(409)
    },
  )

  it.each(['""', '"', 'x', '"a", "b"', '"%zz"', '"\x7f"'])(
    'cannot be told from %j, and nothing is written',
    async (tag) => {
      const caller = new Caller()
      const path = `/v1/sessions/${await caller.session()}/checkpoint`
      expect(await caller.call('PUT', path, { value: 1 }, { 'If-Match': tag })).toMatchObject({
        status: 400,
        body: { argument: 'If-Match' },
      })
      expect((await caller.call('GET', path)).body).toEqual({ value: null, version: null })
    },
  )
})

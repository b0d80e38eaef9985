import { describe, expect, it } from 'vitest'
import { edgeVariables } from '../../edge-variables.ts'
import { Caller, newUser } from './caller.ts'
import { described } from './routes.ts'
import { changedIn, stateOf } from './rows.ts'

describe('a version', () => {
  it.each(['op-1', '"quoted"', 'a"b', '100%', 'a b, c'])(
    'of what is written under the key %s is a tag that can be sent back',
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

  it('may be one of a list, or any that is there', async () => {
    const caller = new Caller()
    const checkpoint = `/v1/sessions/${await caller.session()}/checkpoint`
    const skill = { description: 'How.', text: 'Ask.' }
    for (const [path, body] of [
      [checkpoint, { value: 1 }],
      ['/v1/me/profile/about', { text: 'x' }],
      ['/v1/me/skills/booking', skill],
    ] as const) {
      const put = async (headers: Record<string, string>, more: object = {}) => {
        const { status, headers: answered } = await caller.call('PUT', path, { ...body, ...more }, headers)
        return [status, answered.get('ETag') ?? ''] as const
      }
      const other = path === checkpoint ? { value: 2 } : { text: 'y' }
      expect(await put({ 'If-Match': '*' })).toEqual([409, ''])
      expect(await put({ 'If-Match': '"a", "b"' })).toEqual([409, ''])
      const [made, tag] = await put({ 'If-None-Match': '*' })
      expect(made).toBe(200)
      expect((await put({ 'If-None-Match': '*' }, other))[0]).toBe(409)
      expect((await put({ 'If-None-Match': `"a", ${tag}` }, other))[0]).toBe(409)
      expect((await put({ 'If-Match': '"a", "b"' }, other))[0]).toBe(409)
      const [changed, newer] = await put({ 'If-Match': `"a", W/${tag}` }, other)
      expect(changed).toBe(200)
      expect((await put({ 'If-Match': tag, 'If-None-Match': '"a"' }))[0]).toBe(409)
      expect((await put({ 'If-Match': '*', 'If-None-Match': '"a"' }))[0]).toBe(200)
      const read = (held: string) => caller.fetch('GET', path, { headers: { 'If-None-Match': held } })
      const now = (await caller.fetch('GET', path)).headers.get('ETag')
      expect((await read(`"a", ${now}`)).status).toBe(304)
      expect((await read('*')).status).toBe(304)
      expect((await read(`"a", ${newer}`)).status).toBe(200)
    }
    for (const [path, headers, status] of [
      ['/v1/me/profile/about', { 'If-Match': '"a", "b"' }, 409],
      ['/v1/me/profile/about', { 'If-Match': '*' }, 204],
      ['/v1/me/profile/about', { 'If-Match': '*' }, 409],
      ['/v1/me/skills/booking', { 'If-None-Match': '*' }, 409],
      ['/v1/me/skills/booking', { 'If-Match': '*' }, 204],
    ] as const)
      expect([path, (await caller.call('DELETE', path, undefined, headers)).status]).toEqual([path, status])
  })

  it('of two that write over any at once both write', async () => {
    const caller = new Caller()
    const checkpoint = `/v1/sessions/${await caller.session()}/checkpoint`
    for (const [path, bodyOf] of [
      [checkpoint, (value: number) => ({ value })],
      ['/v1/me/profile/about', (value: number) => ({ text: `${value}` })],
    ] as const) {
      await caller.call('PUT', path, bodyOf(0))
      const all = [1, 2, 3].map((value) => caller.call('PUT', path, bodyOf(value), { 'If-Match': '*' }))
      expect((await Promise.all(all)).map(({ status }) => status)).toEqual([200, 200, 200])
    }
  })

  it.each(['"', 'x', '"a" "b"', '"%zz"', '"\x7f"', '""'])(
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

  it('cannot be asked for where nothing has one: no write takes a header that it would not heed', async () => {
    const caller = new Caller()
    const names: Readonly<Record<string, string>> = { session: await caller.session(), user: 'somebody' }
    const before = await stateOf(caller.user, names.session ?? '')
    const operator = new Caller(newUser(), edgeVariables.OPERATOR_SECRET)
    for (const { method, path } of described) {
      const isRead = method === 'GET'
      const isVersioned = /(checkpoint|commit|profile\/\{name\}|skills\/\{name\}|start)$/.test(path)
      const to = path.replace(/\{(\w+)\}/g, (_, name: string) => names[name] ?? 'x')
      const by = path.includes('/operator/') ? operator : caller
      for (const header of isVersioned && !isRead ? [] : ['If-Match', ...(isRead ? [] : ['If-None-Match'])])
        for (const value of ['*', '"a"']) {
          const { status, body } = await by.call(method, to, isRead ? undefined : {}, { [header]: value })
          expect([method, path, status, body?.code, body?.argument]).toEqual([
            ...[method, path, 400, 'ERR_INVALID_ARGUMENT', header],
          ])
        }
    }
    expect(changedIn(before, await stateOf(caller.user, names.session ?? ''))).toEqual([])
    // A read is as it would be without, since no version of it is the one that is held.
    const held = { 'If-None-Match': '"a"' }
    expect((await caller.call('GET', '/v1/sessions', undefined, held)).status).toBe(200)
  })
})

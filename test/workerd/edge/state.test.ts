import { describe, expect, it } from 'vitest'
import type { Model } from '../../../src/ports/model.ts'
import { Caller } from './caller.ts'
import { changeSessions } from './changed-settings.ts'
import { rowsOf, sessionObject } from './rows.ts'

const open = async () => {
  const caller = new Caller()
  const at = `/v1/sessions/${await caller.session()}`
  const commit = (body: unknown, headers: Record<string, string> = {}) =>
    caller.call('POST', `${at}/commit`, body, headers)
  const state = async () => ({
    said: (await caller.call<{ messages: { content: string }[] }>('GET', `${at}/messages`)).body.messages.map(
      ({ content }) => content,
    ),
    checkpoint: (await caller.call('GET', `${at}/checkpoint`)).body.value,
    facts: (await caller.call<{ facts: { text: string }[] }>('GET', `${at}/facts`)).body.facts.map(
      ({ text }) => text,
    ),
  })
  return { caller, at, commit, state }
}
const said = (content: string, more: object = {}) => ({ role: 'user', content, ...more })
const finding = (text: string, more: object = {}) => ({ kind: 'finding', text, ...more })
/** Says a word, and goes on until it is stopped. */
const endless: Model = {
  id: 'endless',
  async *complete({ signal }) {
    yield { type: 'text', text: 'Once' }
    await new Promise<void>((resolve) => signal?.addEventListener('abort', () => resolve()))
  },
}
const NOTHING = { said: [], checkpoint: null, facts: [] }

describe('a commit over HTTP', () => {
  it('writes messages, checkpoint and facts together, and says what became of each', async () => {
    const { at, caller, commit, state } = await open()
    const { status, body, headers } = await commit({
      messages: [said('One.', { id: 'm1' }), said('Two.')],
      checkpoint: { someKey: 1, other_key: [null] },
      facts: [finding('The 9:40 is full.', { sources: ['m1'] })],
    })
    expect(status).toBe(200)
    expect(body).toMatchObject({
      messages: [{ id: 'm1', created_at: expect.any(Number) }, { content: 'Two.' }],
      repeated: false,
      mismatch: false,
      checkpoint: expect.any(String),
      facts: [{ status: 'new', fact: { sources: ['m1'], review_at: expect.any(Number) } }],
    })
    expect(await state()).toEqual({
      said: ['One.', 'Two.'],
      checkpoint: { someKey: 1, other_key: [null] },
      facts: ['The 9:40 is full.'],
    })
    expect(headers.get('ETag')).toBe((await caller.call('GET', `${at}/checkpoint`)).headers.get('ETag'))
  })

  it('may be of one of them, and keeps no checkpoint where it is null', async () => {
    const { commit, state } = await open()
    expect((await commit({ facts: [finding('A.')] })).body).not.toHaveProperty('checkpoint')
    const first = await commit({ checkpoint: 1 })
    expect(first.body).toMatchObject({ messages: [], checkpoint: expect.any(String) })
    const tag = first.headers.get('ETag') ?? ''
    const last = await commit({ messages: [said('Done.')], checkpoint: null }, { 'If-Match': tag })
    expect(last.body.checkpoint).toBeNull()
    expect(await state()).toEqual({ said: ['Done.'], checkpoint: null, facts: ['A.'] })
  })

  it('is refused whole, with the place of what is wrong', async () => {
    const { commit, state } = await open()
    const all = { messages: [said('One.')], checkpoint: 1, facts: [finding('A.')] }
    const refused: readonly (readonly [object, number, object])[] = [
      [{ messages: [said('x', { role: 'nobody' })] }, 400, { argument: 'body.messages[0]' }],
      [{ messages: [] }, 400, { argument: 'body.messages' }],
      [{ checkpoint: 'x'.repeat(40_000) }, 413, { code: 'ERR_ENTRY_TOO_LARGE' }],
      [{ facts: [finding('x', { sources: ['unknown'] })] }, 404, { code: 'ERR_NOT_FOUND' }],
      [{ facts: finding('x') }, 400, { argument: 'body.facts' }],
      [{ unknown: 1 }, 400, { argument: 'body' }],
      [{ round: 'none', messages: [said('x', { role: 'assistant' })] }, 404, { code: 'ERR_NOT_FOUND' }],
    ]
    for (const [body, status, problem] of refused) {
      const answered = await commit({ ...all, ...body })
      expect([body, answered.status]).toEqual([body, status])
      expect(answered.body).toMatchObject(problem)
    }
    for (const empty of [{}, { facts: [] }])
      expect((await commit(empty)).body).toMatchObject({ code: 'ERR_INVALID_ARGUMENT' })
    const bound = await commit({ messages: [said('x')] }, { 'If-Match': '"a"' })
    expect(bound.body).toMatchObject({ code: 'ERR_INVALID_ARGUMENT', argument: 'ifVersion' })
    expect(await state()).toEqual(NOTHING)
  })

  it('over another version than it names is 409 with the one that is there, and loses nothing', async () => {
    const { commit, state } = await open()
    const first = await commit({ checkpoint: 1 }, { 'If-None-Match': '*' })
    expect(first.status).toBe(200)
    const late = await commit(
      { messages: [said('Late.')], checkpoint: 2, facts: [finding('Late.')] },
      {
        'If-None-Match': '*',
      },
    )
    expect(late.status).toBe(409)
    expect(late.body).toMatchObject({ code: 'ERR_CONFLICT', version: first.body.checkpoint })
    expect(await state()).toEqual({ ...NOTHING, checkpoint: 1 })
    const again = { messages: [said('Late.')], checkpoint: 2, facts: [finding('Late.')] }
    const tag = first.headers.get('ETag') ?? ''
    expect((await commit(again, { 'If-Match': tag })).status).toBe(200)
    expect(await state()).toEqual({ said: ['Late.'], checkpoint: 2, facts: ['Late.'] })
  })

  it('of which an answer was lost is done once', async () => {
    const { at, caller, commit, state } = await open()
    const body = { messages: [said('One.')], checkpoint: 1, facts: [finding('A.')] }
    const first = await commit(body, { 'Idempotency-Key': 'k', 'If-None-Match': '*' })
    const [a, b] = await Promise.all([1, 2].map(() => commit(body, { 'Idempotency-Key': 'k' })))
    expect(a?.body).toEqual(first.body)
    expect(b?.body).toEqual(first.body)
    expect((await commit({ checkpoint: 2 }, { 'Idempotency-Key': 'k' })).status).toBe(409)
    const elsewhere = await caller.call(
      'POST',
      `${at}/messages`,
      { messages: body.messages },
      {
        'Idempotency-Key': 'k',
      },
    )
    expect(elsewhere.status).toBe(409)
    expect(await state()).toEqual({ said: ['One.'], checkpoint: 1, facts: ['A.'] })
  })

  it('takes messages that were uploaded in parts', async () => {
    const { at, caller, commit, state } = await open()
    const text = JSON.stringify(said('A long one.'))
    for (const [place, half] of [text.slice(0, 10), text.slice(10)].entries())
      await caller.fetch('PUT', `${at}/parts/long/${place}`, {
        body: half,
        headers: { 'Content-Type': 'text/plain' },
      })
    expect((await commit({ messages: [{ id: 'long', parts: 2 }], checkpoint: 1 })).status).toBe(200)
    expect(await state()).toEqual({ ...NOTHING, said: ['A long one.'], checkpoint: 1 })
  })
})

describe('a log over HTTP', () => {
  it('is cleared, and keeps checkpoint, title and facts of their own', async () => {
    const { at, caller, commit, state } = await open()
    const body = {
      messages: [said('Secret word.', { id: 'm1' }), said('Two.')],
      checkpoint: { step: 1 },
      facts: [finding('Of the secret word.', { sources: ['m1'] }), finding('Apart.')],
    }
    const first = await commit(body, { 'Idempotency-Key': 'k' })
    expect(first.status).toBe(200)
    await caller.call('PATCH', at, { title: 'Turin' })
    await caller.call('POST', `${at}/context`, {})
    await caller.fetch('PUT', `${at}/parts/long/0`, {
      body: 'Secret word, again.',
      headers: { 'Content-Type': 'text/plain' },
    })
    const cleared = await caller.call('DELETE', `${at}/messages`, undefined, { 'Idempotency-Key': 'clear' })
    expect(cleared.status).toBe(200)
    expect(cleared.body).toMatchObject({
      action: 'forget',
      already: false,
      removed: { messages: { count: 2 }, facts: { count: 1 } },
      confirmed: expect.arrayContaining(['store']),
    })
    expect(await state()).toEqual({ said: [], checkpoint: { step: 1 }, facts: ['Apart.'] })
    expect((await caller.call('GET', at)).body.title).toBe('Turin')
    const held = JSON.stringify(await rowsOf(sessionObject(caller.user, at.split('/').at(-1) ?? '')))
    expect(held).not.toContain('ecret word')
    // The answer of the commit held what was said, that of the clearing holds none of it.
    const repeated = await caller.call('DELETE', `${at}/messages`, undefined, { 'Idempotency-Key': 'clear' })
    expect(repeated.body).toEqual(cleared.body)
    expect((await caller.call('DELETE', `${at}/messages`)).body.already).toBe(true)
    expect((await commit({ messages: [said('New.')] })).status).toBe(200)
    expect((await state()).said).toEqual(['New.'])
  })

  it('is cleared of nothing where there is no such session', async () => {
    const { status } = await new Caller().call('DELETE', '/v1/sessions/nowhere/messages')
    expect(status).toBe(404)
  })

  it('of a reply that goes on is cleared of that too, which is stopped', async () => {
    await changeSessions((settings) => ({ ...settings, model: endless }))
    const { at, caller, state } = await open()
    const reply = await caller.fetch('POST', `${at}/chat`, {
      body: JSON.stringify({ message: 'Tell me a long story.' }),
      headers: { 'Content-Type': 'application/json' },
    })
    expect(reply.status).toBe(200)
    const cleared = await caller.call('DELETE', `${at}/messages`)
    expect(cleared.body).toMatchObject({ already: false })
    await reply.text()
    expect((await state()).said).toEqual([])
  })
})

describe('a checkpoint over HTTP', () => {
  it.each(['DELETE', 'PUT'] as const)(
    'is removed by %s, of that version alone, as often as one asks',
    async (by) => {
      const { at, caller, commit, state } = await open()
      const path = `${at}/checkpoint`
      const remove = (headers: Record<string, string> = {}) =>
        caller.call(by, path, by === 'PUT' ? { value: null } : undefined, headers)
      await commit({ messages: [said('One.')] })
      const { headers, body } = await caller.call('PUT', path, { value: { step: 1 } })
      const refused = await remove({ 'If-Match': '"another"' })
      expect(refused.body).toMatchObject({ status: 409, code: 'ERR_CONFLICT', version: body.version })
      const removed = await remove({ 'If-Match': headers.get('ETag') ?? '' })
      expect(removed.status).toBe(by === 'PUT' ? 200 : 204)
      if (by === 'PUT') expect(removed.body).toEqual({ version: null })
      expect(removed.headers.get('ETag')).toBeNull()
      expect((await remove()).status).toBe(by === 'PUT' ? 200 : 204)
      expect((await caller.call('GET', path)).body).toEqual({ value: null, version: null })
      expect((await caller.call('PUT', path, { value: 2 }, { 'If-None-Match': '*' })).status).toBe(200)
      expect(await state()).toEqual({ ...NOTHING, said: ['One.'], checkpoint: 2 })
    },
  )
})

import { describe, expect, it } from 'vitest'
import { json, problem, refused, type Sent, scene } from './support.ts'

/** Answers as an edge whose checkpoint somebody else writes before each of the first writes. */
function contended(times: number) {
  let version = 0
  let left = times
  const bodies: unknown[] = []
  const answer = ({ method, body, headers }: Sent): Response => {
    if (method === 'GET')
      return json({ value: version === 0 ? null : version, version: version === 0 ? null : `v${version}` })
    if (left-- > 0) version++
    const held = headers.get('if-match') ?? headers.get('if-none-match')
    if (held !== (version === 0 ? '*' : `"v${version}"`))
      return problem(409, { code: 'ERR_CONFLICT', version: `v${version}` })
    bodies.push(JSON.parse(body ?? ''))
    return json({ version: `v${++version}` })
  }
  return { answer, bodies }
}

describe('an update of a checkpoint', () => {
  it('writes over the version that it read, or where there is none', async () => {
    const { answer, bodies } = contended(0)
    const { client, sent } = scene([answer])
    const { checkpoint } = client.session('trip')
    expect(await checkpoint.update<number>((count) => count + 1, { default: 40 })).toBe('v1')
    expect(await checkpoint.update<number>(async (count) => count * 2)).toBe('v2')
    expect(bodies).toEqual([{ value: 41 }, { value: 2 }])
    expect(sent.map(({ method }) => method)).toEqual(['GET', 'PUT', 'GET', 'PUT'])
  })

  it('reads and changes again, after waits that grow, while others write', async () => {
    const { answer, bodies } = contended(12)
    const { client, waits } = scene([answer])
    const seen: unknown[] = []
    await client.session('trip').checkpoint.update((before) => {
      seen.push(before)
      return 'mine'
    })
    expect(seen).toEqual([undefined, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12])
    expect(bodies).toEqual([{ value: 'mine' }])
    expect(waits.filter((ms) => ms < 30_000)).toEqual([
      10, 20, 40, 80, 128, 128, 128, 128, 128, 128, 128, 128,
    ])
  })

  it('is refused with the version that is there after 5 seconds of waits', async () => {
    const { answer } = contended(Number.POSITIVE_INFINITY)
    const { client, waits } = scene([answer])
    const error = await refused(client.session('trip').checkpoint.update(() => 1))
    expect(error.code).toBe('ERR_CONFLICT')
    expect(error.version).toMatch(/^v\d+$/)
    const total = waits.filter((ms) => ms < 30_000).reduce((sum, ms) => sum + ms, 0)
    expect(total).toBeGreaterThanOrEqual(5_000)
    expect(total).toBeLessThan(5_256)
  })

  it('follows the one before it, though that is refused', async () => {
    const { answer, bodies } = contended(0)
    const { client, sent } = scene([answer])
    const { checkpoint } = client.session('trip')
    const failing = checkpoint.update(() => {
      throw new Error('no')
    })
    const all = [1, 2].map((one) =>
      checkpoint.update<number[]>((done) => [one].concat(done), { default: [] }),
    )
    await expect(failing).rejects.toThrow('no')
    await Promise.all(all)
    expect(bodies).toHaveLength(2)
    expect(sent.map(({ method }) => method)).toEqual(['GET', 'GET', 'PUT', 'GET', 'PUT'])
  })

  it('passes on what is no conflict, and stops where its signal aborts', async () => {
    const { client } = scene([
      json({ value: 1, version: 'v1' }),
      problem(413, { code: 'ERR_ENTRY_TOO_LARGE' }),
    ])
    expect((await refused(client.session('trip').checkpoint.update(() => 1))).code).toBe(
      'ERR_ENTRY_TOO_LARGE',
    )
    const stopped = new AbortController()
    const { answer } = contended(Number.POSITIVE_INFINITY)
    const late = scene([answer])
      .client.session('trip')
      .checkpoint.update(
        () => {
          stopped.abort(new Error('enough'))
          return 1
        },
        { signal: stopped.signal },
      )
    await expect(late).rejects.toThrow('enough')
  })
})

describe('a checkpoint', () => {
  it('is removed, of a version if one is named', async () => {
    const { client, sent } = scene([new Response(null, { status: 204 })])
    const { checkpoint } = client.session('trip')
    await checkpoint.delete()
    await checkpoint.delete({ ifVersion: 'v1' })
    expect(sent.map(({ method, url }) => `${method} ${url}`)).toEqual(
      Array(2).fill('DELETE https://edge.test/v1/sessions/trip/checkpoint'),
    )
    expect(sent.map(({ headers }) => headers.get('if-match'))).toEqual([null, '"v1"'])
  })
})

describe('a log', () => {
  it('is cleared by one request, whose answer is a certificate', async () => {
    const { client, sent } = scene([json({ action: 'forget', target: 'trip', already: false })])
    expect(await client.session('trip').clearLog({ opId: 'mine' })).toMatchObject({ target: 'trip' })
    const [{ method, url, headers } = {} as Sent] = sent
    expect(`${method} ${url}`).toBe('DELETE https://edge.test/v1/sessions/trip/messages')
    expect(headers.get('idempotency-key')).toBe('mine')
  })
})

describe('a commit', () => {
  it('travels whole, what is the app’s own as it is', async () => {
    const answered = { messages: [], repeated: false, mismatch: false, checkpoint: 'v2', facts: [] }
    const { client, sent } = scene([json(answered)])
    const committed = await client.session('trip').commit(
      {
        messages: { role: 'user', content: 'Hi.', createdAt: 1 },
        checkpoint: { someKey: { other_key: 1 } },
        facts: [{ kind: 'finding', text: 'A.', reviewAt: 2 }],
      },
      { ifVersion: 'v1', round: 'r1', opId: 'mine' },
    )
    expect(committed).toEqual(answered)
    expect(sent).toHaveLength(1)
    const [{ method, url, headers, body } = {} as Sent] = sent
    expect(`${method} ${url}`).toBe('POST https://edge.test/v1/sessions/trip/commit')
    expect([headers.get('if-match'), headers.get('idempotency-key')]).toEqual(['"v1"', 'mine'])
    expect(JSON.parse(body ?? '')).toEqual({
      messages: [{ role: 'user', content: 'Hi.', created_at: 1 }],
      checkpoint: { someKey: { other_key: 1 } },
      facts: [{ kind: 'finding', text: 'A.', review_at: 2 }],
      round: 'r1',
    })
  })

  it('of state alone names no messages, and a long message travels in parts before it', async () => {
    const { client, sent } = scene([
      json({ messages: [], repeated: false, mismatch: false, checkpoint: null }),
    ])
    expect(await client.session('trip').commit({ checkpoint: null })).toMatchObject({ checkpoint: null })
    expect(JSON.parse(sent[0]?.body ?? '')).toEqual({ checkpoint: null })
    await client.session('trip').commit({ messages: { role: 'user', content: 'x'.repeat(1_000_000) } })
    const [, ...others] = sent
    expect(others.map(({ method }) => method)).toEqual(['PUT', 'PUT', 'POST'])
    expect(JSON.parse(others[2]?.body ?? '').messages).toEqual([{ id: expect.any(String), parts: 2 }])
  })
})

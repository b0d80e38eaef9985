import { describe, expect, it } from 'vitest'
import { json, scene } from './support.ts'

const LINES = ['{"type":"export"}\n', '{"type":"user"}\n', '{"type":"end","lines":2}\n']

/** An answer whose body comes in pieces of so many bytes. */
function streamed(text: string, size: number): Response {
  const bytes = new TextEncoder().encode(text)
  let at = 0
  return new Response(
    new ReadableStream({
      pull(controller) {
        if (at >= bytes.length) return controller.close()
        controller.enqueue(bytes.slice(at, at + size))
        at += size
      },
    }),
  )
}

describe('an export over HTTP', () => {
  it('gives its lines as they come, in whatever pieces that is', async () => {
    for (const size of [1, 7, 1_000]) {
      const { client, sent } = scene([streamed(LINES.join('').replace('user', 'usér'), size)])
      const lines: string[] = []
      for await (const line of client.me.export({ parts: ['log', 'facts'] })) lines.push(line)
      expect(lines.join('')).toBe(LINES.join('').replace('user', 'usér'))
      expect(lines.length).toBe(3)
      expect(sent[0]?.url).toBe('https://edge.test/v1/me/export?parts=log%2Cfacts')
    }
  })

  it('says that it broke off where its last line is missing', async () => {
    for (const text of ['', LINES.slice(0, 2).join(''), LINES.join('').slice(0, -1)]) {
      const { client } = scene([streamed(text, 5)])
      const reading = async () => {
        for await (const _ of client.me.export());
      }
      await expect(reading()).rejects.toMatchObject({ code: 'ERR_INTERRUPTED' })
    }
  })

  it('is imported as it is, again after a failure', async () => {
    const report = {
      parts: {},
      conflicts: { count: 1, first: [{ session_id: 'a' }] },
      skipped: { count: 0, first: [] },
      lowered: { count: 0, first: [] },
    }
    const { client, sent } = scene([new Error('lost'), json(report)])
    const { conflicts } = await client.me.import(LINES.join(''))
    expect(conflicts.first).toEqual([{ sessionId: 'a' }])
    expect(sent.map(({ method, url, body }) => [method, url, body])).toEqual(
      Array(2).fill(['POST', 'https://edge.test/v1/me/import', LINES.join('')]),
    )
    const own = scene([json(report)])
    await own.client.me.import(LINES.join(''), { trust: 'user' })
    expect(own.sent[0]?.url).toBe('https://edge.test/v1/me/import?trust=user')
  })
})

import { exports } from 'cloudflare:workers'
import { describe, expect, it } from 'vitest'

const ORIGIN = 'https://trains.test'

/** Calls the example's worker, as who has that ticket. */
function call(path: string, { ticket, ...init }: RequestInit & { ticket?: string } = {}): Promise<Response> {
  const headers = new Headers({ ...(init.body !== undefined && { 'Content-Type': 'application/json' }) })
  if (ticket !== undefined) headers.set('Cookie', `theme=dark; ticket=${ticket}`)
  return exports.default.fetch(new Request(ORIGIN + path, { ...init, headers }))
}
const post = (path: string, body: unknown, ticket = 'ticket-of-ada'): Promise<Response> =>
  call(path, { method: 'POST', body: JSON.stringify(body), ticket })

describe('an app of one’s own around the edge', () => {
  it('has its own routes beside those of the memory', async () => {
    expect(await (await call('/trains/Turin')).json()).toEqual({ to: 'Turin', leaves: '9:40', platform: 6 })
    expect(await (await call('/memory/health')).json()).toEqual({ status: 'ok' })
    const document = (await (await call('/memory/openapi.json')).json()) as { servers: unknown }
    expect(document.servers).toEqual([{ url: `${ORIGIN}/memory` }])
  })

  it('knows who calls by its own means, and lets in nobody else', async () => {
    expect((await post('/memory/v1/sessions', { session_id: 'trip' })).status).toBe(201)
    for (const ticket of ['forged', ''])
      expect(await (await call('/memory/v1/sessions', { ticket })).json()).toMatchObject({
        code: 'ERR_UNAUTHENTICATED',
      })
    expect((await call('/memory/v1/sessions/trip', { ticket: 'ticket-of-bob' })).status).toBe(404)
    expect((await call('/memory/v1/sessions/trip', { ticket: 'ticket-of-ada' })).status).toBe(200)
  })

  it('has its agent call its own tool and its own model, and keeps what they said', async () => {
    await post('/memory/v1/sessions', { session_id: 'tool' })
    const response = await post('/memory/v1/sessions/tool/chat', { message: 'Two seats to Turin, please.' })
    const stream = await response.text()
    expect(stream).toContain('"toolName":"timetable"')
    expect(stream).toContain('data: [DONE]')
    const { messages } = (await (
      await call('/memory/v1/sessions/tool/messages', { ticket: 'ticket-of-ada' })
    ).json()) as {
      messages: { role: string; content: unknown }[]
    }
    expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'assistant'])
    expect(messages.at(-1)?.content).toBe('The next train to Turin leaves at 9:40, from platform 6.')
  })

  it('has its own instructions, line and budgets', async () => {
    await post('/memory/v1/sessions', { session_id: 'budget' })
    const context = (await (await post('/memory/v1/sessions/budget/context', {})).json()) as {
      blocks: { section: string; parts: unknown }[]
      receipt: { cap: number }
    }
    expect(context.receipt.cap).toBe(7_500)
    expect(context.blocks[0]).toMatchObject({
      section: 'system',
      parts: [{ type: 'text', text: 'You sell train tickets. Answer briefly.' }],
    })
    let written = 0
    let refused: Response | undefined
    while (!refused && written < 2_000) {
      const body = { messages: [{ role: 'user', content: `${written}` }] }
      const response = await post('/memory/v1/sessions/budget/messages', body)
      if (response.status === 200) written++
      else refused = response
    }
    // 120 at once, with the context above, and two a second while this went on.
    expect(written).toBeGreaterThanOrEqual(119)
    expect(await refused?.json()).toMatchObject({ status: 429, code: 'ERR_RATE_LIMIT', retry_after: 1 })
  })
})

import { describe, expect, it, vi } from 'vitest'
import { Caller } from './caller.ts'

/** A session, and the hints that it gives. */
async function listening(caller: Caller, given?: string): Promise<unknown[]> {
  const session = given ?? (await caller.session())
  const headers = { Upgrade: 'websocket' }
  const { webSocket } = await caller.fetch('GET', `/v1/sessions/${session}/live`, { headers })
  const hints: unknown[] = []
  webSocket?.addEventListener('message', ({ data }) => {
    hints.push(JSON.parse(data as string))
  })
  webSocket?.accept()
  return hints
}

describe('sessions of one user', () => {
  it('are told what concerns them all, and not of sessions that are made or titled beside them', async () => {
    const caller = new Caller()
    const hints = await listening(caller)
    const other = await caller.session()
    expect((await caller.call('PATCH', `/v1/sessions/${other}`, { title: 'Turin' })).status).toBe(200)
    expect((await caller.call('PUT', '/v1/me/profile/name', { text: 'Ada' })).status).toBe(200)
    await vi.waitFor(() => expect(hints).not.toEqual([]))
    expect(hints).toHaveLength(1)
  })

  it('are not told of a look at what the next call would be given', async () => {
    const caller = new Caller()
    const session = await caller.session()
    const hints = await listening(caller, session)
    const post = (body: unknown) => caller.call('POST', `/v1/sessions/${session}/context`, body)
    await post({ messages: [{ role: 'user', content: 'Two seats.' }] })
    await vi.waitFor(() => expect(hints).toHaveLength(1))
    for (let count = 0; count < 3; count++) expect((await post({ preview: true })).status).toBe(200)
    await post({ tail: 'It is Monday.' })
    await vi.waitFor(() => expect(hints.length).toBeGreaterThan(1))
    expect(hints).toHaveLength(2)
  })

  it('are told of a fact that another of them shares', async () => {
    const caller = new Caller()
    const hints = await listening(caller)
    const other = await caller.session()
    const { body } = await caller.call<{ fact: { id: string } }>('POST', `/v1/sessions/${other}/facts`, {
      kind: 'preference',
      text: 'A seat by the window.',
    })
    const changed = { promote: true }
    const { status } = await caller.call('PATCH', `/v1/sessions/${other}/facts/${body.fact.id}`, changed)
    expect(status).toBe(200)
    await vi.waitFor(() => expect(hints).not.toEqual([]))
  })
})

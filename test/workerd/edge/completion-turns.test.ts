import { evictDurableObject } from 'cloudflare:test'
import { describe, expect, it, vi } from 'vitest'
import { WorkQueue } from '../../../src/edge/work/work-queue.ts'
import { type Model, PlimsollError } from '../../../src/index.ts'
import { changeSessions, useDemoModel } from './changed-settings.ts'
import { World } from './world.ts'

describe('completions of one session, which take turns', () => {
  it('are answered after one whose turn could not be noted, as where there is no room left', async () => {
    await useDemoModel()
    const world = new World()
    await world.create()
    await evictDurableObject(world.stub())
    const say = (content: string) =>
      world.call('POST', '/v1/sessions/trip/openai/chat/completions', {
        model: 'plimsoll',
        messages: [{ role: 'user', content }],
      })
    const full = new PlimsollError('ERR_STORAGE_FULL', 'sql: no room left')
    const log = vi.spyOn(console, 'error').mockReturnValue(undefined)
    const schedule = vi.spyOn(WorkQueue.prototype, 'schedule').mockRejectedValueOnce(full)
    expect((await say('One.')).status).toBe(507)
    schedule.mockRestore()
    log.mockRestore()
    expect((await say('Two.')).status).toBe(200)
  }, 10_000)

  it('wait for one another, and no more than eight of them', async () => {
    let open = (): void => {}
    const opened = new Promise<void>((resolve) => {
      open = resolve
    })
    const model: Model = {
      id: 'slow',
      async *complete() {
        await opened
        yield { type: 'finish', message: { role: 'assistant', content: 'Yes.' }, reason: 'stop' }
      },
    }
    await changeSessions((settings) => ({ ...settings, model }))
    const world = new World()
    await world.create()
    const say = (index: number) =>
      world.call('POST', '/v1/sessions/trip/openai/chat/completions', {
        model: 'plimsoll',
        messages: [{ role: 'user', content: `Question ${index}?` }],
      })
    const log = vi.spyOn(console, 'error').mockReturnValue(undefined)
    const asked = Array.from({ length: 12 }, (_, index) => say(index))
    const refused = await Promise.race(asked)
    expect(refused.status).toBe(503)
    expect(refused.headers.get('Retry-After')).toBe('5')
    open()
    const statuses = (await Promise.all(asked)).map(({ status }) => status)
    expect(statuses.filter((status) => status === 200)).toHaveLength(9)
    expect(statuses.filter((status) => status === 503)).toHaveLength(3)
    log.mockRestore()
  }, 20_000)
})

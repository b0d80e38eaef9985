import { evictDurableObject } from 'cloudflare:test'
import { describe, expect, it, vi } from 'vitest'
import { WorkQueue } from '../../../src/edge/tables/work-queue.ts'
import { PlimsollError } from '../../../src/index.ts'
import { useDemoModel } from './changed-settings.ts'
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
})

import { describe, expect, it, vi } from 'vitest'
import { type LogLine, metricsTo, type RunLine, requestLogOf, runLogOf } from '../../../src/edge/hono.ts'
import { changeSessions, useDemoModel } from './changed-settings.ts'
import { sessionObject } from './rows.ts'
import { World } from './world.ts'

const request: LogLine = {
  ...{ requestId: 'r', method: 'POST', route: '/v1/sessions/:session/context', status: 200 },
  ...{ milliseconds: 9, tokens: 412, epoch: 'epoch/1' },
}

/** Data points that were written. */
function dataset() {
  const points: unknown[] = []
  return { points, METRICS: { writeDataPoint: (point: unknown) => void points.push(point) } }
}

describe('a run of the edge’s agent', () => {
  it('is told when it has ended, with what the model took and cost, and without what was said', async () => {
    await useDemoModel()
    const told: RunLine[] = []
    const prices = { input: 1_000_000, output: 2_000_000 }
    await changeSessions((settings) => ({ ...settings, prices, onRun: (line) => void told.push(line) }))
    const world = new World()
    await world.create()
    const response = await world.caller.fetch('POST', '/v1/sessions/trip/chat', {
      headers: { 'Content-Type': 'application/json' },
      body: '{"message":"At 9:40."}',
    })
    await response.text()
    expect(told).toHaveLength(1)
    const [line] = told as [RunLine]
    expect(line).toMatchObject({
      ...{ object: 'session', id: sessionObject(world.user, 'trip').id.toString() },
      ...{ run: response.headers.get('Plimsoll-Run'), status: 'done', steps: 1, calls: 1 },
      epoch: expect.stringMatching(/^epoch\/\w+$/),
    })
    expect(line.cost).toBe(line.inputTokens + 2 * line.outputTokens)
    expect(JSON.stringify(line)).not.toMatch(/9:40|trip|user-/)
  })
})

describe('the worker’s log', () => {
  it('has failures and operators alone, or everything, and tells the dataset of all', () => {
    const log = vi.spyOn(console, 'log').mockReturnValue(undefined)
    const error = vi.spyOn(console, 'error').mockReturnValue(undefined)
    const { points, METRICS } = dataset()
    const failed = { ...request, status: 500, code: 'ERR_INTERNAL' }
    for (const LOG of ['', 'failures']) {
      const write = requestLogOf({ LOG, METRICS })
      for (const line of [request, failed]) write(line)
    }
    expect([log.mock.calls.length, error.mock.calls.length, points.length]).toEqual([0, 2, 4])
    requestLogOf({ LOG: 'all' })(request)
    requestLogOf({ LOG: 'all' })(failed)
    expect([log.mock.calls, error.mock.calls.length]).toEqual([[[JSON.stringify(request)]], 3])
    vi.restoreAllMocks()
  })

  it('is refused where it is to be something else', () => {
    for (const make of [requestLogOf, runLogOf])
      expect(() => make({ LOG: 'everything' })).toThrow(
        expect.objectContaining({ code: 'ERR_NOT_CONFIGURED' }),
      )
  })
})

describe('metrics', () => {
  it('are a data point a line, in the order that the runbook has', () => {
    const { points, METRICS } = dataset()
    const { log, onRun } = metricsTo(METRICS)
    log(request)
    onRun({
      ...{ object: 'session', id: 'o', run: 'r', status: 'done', steps: 1, size: 9 },
      ...{ calls: 1, unreported: 0, milliseconds: 2, tokens: 3, model: 'm', epoch: 'e' },
      ...{ inputTokens: 4, cachedInputTokens: 5, cacheWriteTokens: 6, outputTokens: 7, cost: 8 },
    })
    const { route } = request
    expect(points).toEqual([
      { indexes: ['request'], blobs: [route, 'POST', ''], doubles: [200, 9, 412] },
      { indexes: ['run'], blobs: ['m', 'done', ''], doubles: [1, 2, 3, 4, 5, 6, 7, 8] },
    ])
  })
})

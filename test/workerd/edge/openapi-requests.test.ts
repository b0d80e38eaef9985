import { evictDurableObject } from 'cloudflare:test'
import { Validator } from '@cfworker/json-schema'
import { describe, expect, it } from 'vitest'
import { describedAnswer, OpenApiRequests } from '../../everywhere/openapi-requests.ts'
import { randomFrom } from '../../everywhere/random.ts'
import { SEED, size } from '../../everywhere/runs.ts'
import { Caller } from './caller.ts'
import { useDemoModel } from './changed-settings.ts'
import { document } from './routes.ts'
import { sessionObject } from './rows.ts'

const REQUESTS = size(4_000)
/** Requests to one session of one user. */
const A_SESSION = 120

describe('what the description of the API allows', () => {
  it(`is answered as it says, ${REQUESTS} times`, { timeout: 180_000 }, async () => {
    await useDemoModel()
    const requests = new OpenApiRequests(document, randomFrom(SEED))
    const problems: string[] = []
    const done = new Map<string, number>()
    let caller = new Caller()
    let isGone = false
    for (let place = 0; place < REQUESTS; place++) {
      if (place % A_SESSION === 0) caller = new Caller()
      // One that was removed is made again.
      if (place % A_SESSION === 0 || isGone) await caller.call('POST', '/v1/sessions', { session_id: 'trip' })
      if (place % A_SESSION === 0) await evictDurableObject(sessionObject(caller.user, 'trip'))
      const { operation, method, path, headers, body } = requests.next({
        session: ['trip'],
        model: ['plimsoll'],
      })
      const response = await caller.fetch(method, path, { headers, ...(body !== undefined && { body }) })
      isGone = method === 'DELETE'
      const text = await response.text()
      const { status } = response
      const type = response.headers.get('Content-Type')?.split(';')[0] ?? ''
      const said = describedAnswer(operation, status, type)
      const shown = `${method} ${path} ${JSON.stringify(headers)} ${body?.slice(0, 300)} ${status} ${type} ${text.slice(0, 300)}`
      // Objects of other files may be failing, on purpose.
      const isAllowed = status < 500 || path === '/health/ready'
      if (!isAllowed || said === undefined) problems.push(shown)
      else if (said !== true && type.endsWith('json')) {
        const { components } = document
        const { valid, errors } = new Validator({ ...said, components } as object, '2020-12').validate(
          JSON.parse(text),
        )
        if (!valid) problems.push(`${shown} ${JSON.stringify(errors.at(-1))}`)
      }
      if (status < 400) done.set(operation.operationId, (done.get(operation.operationId) ?? 0) + 1)
    }
    expect(problems.slice(0, 10), `seed ${SEED}`).toEqual([])
    // It would prove little if nothing got in.
    expect(done.size, `seed ${SEED}: ${[...done.keys()]}`).toBeGreaterThan(30)
  })
})

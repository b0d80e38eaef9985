import { exports } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import { encryption } from './edge/opened.ts'

test('the worker says that it is well, and whether it encrypts', async () => {
  const response = await exports.default.fetch(new Request('https://plimsoll.test/health'))
  expect(response.status).toBe(200)
  expect(await response.json()).toEqual({ status: 'ok', encrypted: encryption !== undefined })
})

import { expect, it, vi } from 'vitest'
import { uuidv7 } from '../../src/platform/uuid.ts'

it('makes ids by RFC 9562: the time, version 7, variant 10, and 74 random bits', () => {
  const clock = vi.spyOn(Date, 'now').mockReturnValue(0x0123_4567_89ab)
  const ids = Array.from({ length: 1_000 }, uuidv7)
  clock.mockReturnValue(0x0123_4567_89ac)
  ids.push(...Array.from({ length: 1_000 }, uuidv7))
  clock.mockRestore()
  expect(new Set(ids).size).toBe(2_000)
  ids.forEach((id, index) => {
    expect(id).toMatch(/^01234567-89a[bc]-7[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/)
    expect(id[12]).toBe(index < 1_000 ? 'b' : 'c')
  })
  // All that is random takes each of its values: a bit that is stuck leaves half of them out.
  for (const at of [15, 16, 17, 20, 21, 22, ...Array.from({ length: 12 }, (_, digit) => 24 + digit)])
    expect(new Set(ids.map((id) => id[at])).size).toBe(16)
  expect(new Set(ids.map((id) => id[19])).size).toBe(4)
})

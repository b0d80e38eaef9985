import { expect, it } from 'vitest'
import { accepted, answerRefusals } from '../../../src/edge/replica/refusal.ts'
import { PlimsollError } from '../../../src/index.ts'

class Counter {
  static {
    answerRefusals(Counter)
  }

  async add(count: number): Promise<number> {
    if (count < 0) throw new PlimsollError('ERR_LIMIT', 'add: too few', { limit: 0 })
    if (count > 9) throw new PlimsollError('ERR_STORAGE', 'add: the disk is full')
    if (count > 5) throw new TypeError('add: a bug')
    return count
  }
}
const counter = new Counter()

it('what an object refuses travels as a value, and is thrown with its code and fields by its caller', async () => {
  const answer = await counter.add(-1)
  expect(structuredClone(answer)).toEqual(answer)
  expect(() => accepted(answer)).toThrow(
    expect.objectContaining({ name: 'PlimsollError', code: 'ERR_LIMIT', message: 'add: too few', limit: 0 }),
  )
})

it('what fails is thrown by the object, so that the runtime logs it', async () => {
  await expect(counter.add(10)).rejects.toThrow('the disk is full')
  await expect(counter.add(7)).rejects.toThrow(TypeError)
})

it('any other answer is what it was', async () => {
  expect(accepted(await counter.add(3))).toBe(3)
  for (const value of [undefined, null, '', { json: '{}' }]) expect(accepted(value)).toBe(value)
})

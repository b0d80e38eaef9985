import { expect, it } from 'vitest'
import { keeper } from '../../src/kernel/context/keeper.ts'

it('a keeper makes a thing once for the very same things, and lets go of what was asked for longest ago', () => {
  const made: string[] = []
  const keep = keeper<string>(2)
  const ask = (...by: readonly unknown[]): string =>
    keep(by, () => {
      const name = `${made.length}`
      made.push(name)
      return name
    })
  expect([ask('a', 1), ask('a', 1)]).toEqual(['0', '0'])
  expect(ask('a', 2)).toBe('1')
  // Kept, and now the newest of both.
  expect(ask('a', 1)).toBe('0')
  expect(ask('a')).toBe('2')
  expect([ask('a', 1), ask('a')]).toEqual(['0', '2'])
  expect(ask('a', 2)).toBe('3')
  expect([ask('a'), ask('a', 2)]).toEqual(['2', '3'])
  expect([ask(), ask('b', 2), ask(undefined)]).toEqual(['4', '5', '6'])
})

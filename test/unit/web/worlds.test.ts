import { expect, it } from 'vitest'
import { playWorlds } from '../../../web/worlds/worlds.ts'

it('two worlds differ in a secret, more so when it is remembered, and in no byte once it is forgotten', async () => {
  const [said, known, forgotten] = await playWorlds()
  expect(said.readable).toEqual([true, true])
  // Of the code itself, once, and of each place where the fact stands.
  expect(said.differing).toBe(4)
  expect(known.differing).toBeGreaterThan(3 * said.differing)
  expect(known.readable).toEqual([true, true])
  expect(forgotten.differing).toBe(0)
  expect(forgotten.readable).toEqual([false, false])
  // What is left is the log of it: not nothing.
  expect(forgotten.bytes[0]).toBeGreaterThan(1_000)
})

import { expect, it } from 'vitest'
import { toVarints, unitsOf, Varints } from '../../../src/features/recall/varints.ts'

it.each(['', 'm1', 'Zürich', 'm😀1', '\ud83d', '字'.repeat(5_000)])('gives back the text %j', (text) => {
  expect(new Varints(toVarints(unitsOf(text))).text()).toBe(text)
})

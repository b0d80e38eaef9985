import { expect, it } from 'vitest'
import { toPrefixed, toVarints, Varints } from '../../../src/features/recall/varints.ts'
import { joinedBytes } from '../../../src/ports/joined-bytes.ts'

it.each(['', 'm1', 'Zürich', 'm😀1', '\ud83d', '字'.repeat(5_000)])('gives back the text %j', (text) => {
  const read = new Varints(joinedBytes([...toPrefixed([text]), toVarints([300]), ...toPrefixed(7)]))
  expect([read.json(), read.next(), read.json()]).toEqual([[text], 300, 7])
  expect(read.rest()).toHaveLength(0)
})

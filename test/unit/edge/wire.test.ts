import fc from 'fast-check'
import { expect, it } from 'vitest'
import { fromWire, toWire } from '../../../src/edge/wire.ts'
import * as ports from '../../../src/ports/wire.ts'
import { runs } from '../support/runs.ts'

const key = fc.oneof(
  fc.constantFrom('createdAt', 'created_at', 'input', 'metadata', '__proto__', '_Proto__', 'constructor'),
  fc.string(),
)
const { tree } = fc.letrec<{ tree: unknown }>((tie) => ({
  tree: fc.oneof(
    { maxDepth: 4 },
    fc.jsonValue({ maxDepth: 0 }),
    fc.array(tie('tree'), { maxLength: 3 }),
    fc.array(fc.tuple(key, tie('tree')), { maxLength: 4 }).map((fields) => Object.fromEntries(fields)),
  ),
}))

it('is renamed as on the other side, whatever its names', () => {
  fc.assert(
    fc.property(tree, (value) => {
      expect(JSON.stringify(toWire(value))).toBe(JSON.stringify(ports.toWire(value)))
      expect(JSON.stringify(fromWire(value))).toBe(JSON.stringify(ports.fromWire(value)))
    }),
    runs(200),
  )
})

it('inherits nothing from what was sent', () => {
  const read = fromWire(JSON.parse('{"a":{"__proto__":{"admin":true}}}')) as { readonly a: object }
  const sent = toWire({ _Proto__: { admin: true } }) as object
  for (const one of [read.a, sent]) expect(Object.getPrototypeOf(one)).toBe(Object.prototype)
  expect(Object.keys(sent)).toEqual(['__proto__'])
})

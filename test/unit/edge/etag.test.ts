import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { etagOf, versionsIn } from '../../../src/ports/etag.ts'
import { codePoint } from '../../everywhere/code-point.ts'
import { runs } from '../support/runs.ts'

describe('an entity tag', () => {
  it('is the version in quotes', () => {
    expect(etagOf('018f2a-7')).toBe('"018f2a-7"')
    expect(etagOf('a "b" 100%é🚆')).toBe('"a%20%22b%22%20100%25%C3%A9%F0%9F%9A%86"')
  })

  it('holds any version, as RFC 9110 allows it, and gives it back', () => {
    fc.assert(
      fc.property(fc.string({ unit: codePoint }), (version) => {
        const tag = etagOf(version)
        expect(tag).toMatch(/^"[\x21\x23-\x7e]*"$/)
        expect(versionsIn(tag)).toEqual([version])
        expect(versionsIn(` W/${tag} `)).toEqual([version])
        expect(versionsIn(`${tag}, "b,c",W/${tag}`)).toEqual([version, 'b,c', version])
      }),
      runs(100),
    )
  })

  it('may be any at all', () => {
    expect(versionsIn(' * ')).toBe('*')
  })

  it.each(['', 'a', '"a', '"a"b"', '"a" "b"', '"a",', ',"a"', '*, "a"', '"%ff"', '"%"', '"é"'])(
    'is not in %j',
    (text) => {
      expect(versionsIn(text)).toBeUndefined()
    },
  )
})

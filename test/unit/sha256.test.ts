import { createHash, createHmac } from 'node:crypto'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { Sha256 } from '../../src/hashes/sha256.ts'
import { codePoint } from '../everywhere/code-point.ts'

const expected = (text: string): string => createHash('sha256').update(text).digest('hex')

test('the hash of a text of any length is the one of FIPS 180-4', () => {
  for (let length = 0; length <= 260; length++) {
    const text = 'é'.repeat(length / 2) + 'a'.repeat(length % 2)
    expect(new Sha256().hex(text)).toBe(expected(text))
  }
})

test('texts that come in pieces have the hash of the whole, and asking for it changes nothing', () => {
  const text = fc.string({ unit: codePoint, maxLength: 300 })
  fc.assert(
    fc.property(fc.array(text), text, (pieces, last) => {
      const hash = new Sha256()
      for (const piece of pieces) {
        hash.update(piece)
        hash.hex(last)
      }
      expect(hash.hex(last)).toBe(expected(pieces.join('') + last))
    }),
  )
})

test('a text that is longer than what is hashed at a time has the hash of the whole', () => {
  for (let length = 4_000; length < 4_160; length++) {
    const text = 'a'.repeat(length) + '😀é'.repeat(1_400)
    expect(new Sha256().hex(text)).toBe(expected(text))
  }
})

test('with a key it is the HMAC of RFC 2104, in one piece or in several', () => {
  const key = fc.string({ unit: fc.constantFrom(...'0123456789abcdef'), minLength: 1, maxLength: 64 })
  const text = fc.string({ unit: codePoint, maxLength: 200 })
  fc.assert(
    fc.property(key, fc.array(text, { maxLength: 4 }), text, (secret, pieces, last) => {
      const hash = new Sha256(secret)
      for (const piece of pieces) {
        hash.update(piece)
        hash.hex(last)
      }
      const whole = createHmac('sha256', secret).update(pieces.join('') + last)
      expect(hash.hex(last)).toBe(whole.digest('hex'))
    }),
  )
})

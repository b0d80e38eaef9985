import { describe, expect, it } from 'vitest'
import { NO_SEAL, newSealKey, openSeal, openText, sealText } from '../../../src/edge/rows/object-seal.ts'

const SECRET = 'a-secret-of-these-tests-of-32-bytes-or-more'
const OLDER = 'an-older-secret-of-the-tests-of-32-bytes'
const TRIP = { tenant: 'acme', userId: 'ada', sessionId: 'trip' }
const decrypt = expect.objectContaining({ code: 'ERR_DECRYPT' })

describe('what an object seals', () => {
  const key = newSealKey(SECRET, TRIP)
  const seal = openSeal([SECRET], TRIP, key)

  it('opens in its place, after the object woke too, and has nothing of the text', () => {
    for (const text of ['', 'CANARY', '\u0001', '\ufeffa', 'é👍'.repeat(50_000)]) {
      const kept = sealText(seal, text, 'part 0')
      if (text.length > 2) expect(kept).not.toContain(text)
      expect(openText(openSeal([SECRET], TRIP, key), kept, 'part 0')).toBe(text)
      expect(() => openText(seal, kept, 'part 1')).toThrow(decrypt)
    }
    const bytes = Uint8Array.from({ length: 300 }, (_, at) => at)
    expect(seal.seal(bytes, 'chunk 7')).toHaveLength(bytes.length + seal.overhead)
    expect(seal.open(seal.seal(bytes, 'chunk 7'), 'chunk 7')).toEqual(bytes)
    expect(seal.seal(bytes, 'chunk 7')).not.toEqual(seal.seal(bytes, 'chunk 7'))
  })

  it('does not open under another key of the same scope, which is what an erase leaves', () => {
    const next = openSeal([SECRET], TRIP, newSealKey(SECRET, TRIP))
    expect(() => openText(next, sealText(seal, 'CANARY', 'here'), 'here')).toThrow(decrypt)
    expect(next.hide('name')).not.toBe(seal.hide('name'))
  })

  it.each([
    ['another secret', [OLDER], TRIP],
    ['no secret', [], TRIP],
    ['another session', [SECRET], { ...TRIP, sessionId: 'other' }],
    ['another user', [SECRET], { ...TRIP, userId: 'eve' }],
    ['another tenant', [SECRET], { ...TRIP, tenant: 'other' }],
  ])('has a key that does not open with %s', (_, secrets, scope) => {
    expect(() => openSeal(secrets, scope, key)).toThrow(decrypt)
  })

  it('opens nowhere once a byte is another one, or missing', () => {
    const kept = seal.seal(new Uint8Array(9), 'chunk 7')
    for (let at = 0; at < kept.length; at++) {
      const changed = Uint8Array.from(kept, (byte, place) => (place === at ? byte ^ 1 : byte))
      expect(() => seal.open(changed, 'chunk 7')).toThrow(decrypt)
      expect(() => seal.open(kept.subarray(0, at), 'chunk 7')).toThrow(decrypt)
    }
    expect(() => openText(seal, 'no base64', 'here')).toThrow(decrypt)
    expect(() => openSeal([SECRET], TRIP, '{}')).toThrow(decrypt)
  })

  it('opens by an older secret, for as long as that is given', () => {
    const older = newSealKey(OLDER, TRIP)
    const kept = sealText(openSeal([OLDER], TRIP, older), 'CANARY', 'here')
    expect(openText(openSeal([SECRET, OLDER], TRIP, older), kept, 'here')).toBe('CANARY')
  })

  it('is in the clear without a key', () => {
    expect(openText(NO_SEAL, sealText(NO_SEAL, '{"role":', 'here'), 'here')).toBe('{"role":')
    const bytes = new TextEncoder().encode('data: {}')
    expect(NO_SEAL.open(NO_SEAL.seal(bytes, 'chunk 7'), 'chunk 7')).toEqual(bytes)
    expect(NO_SEAL.hide('name')).toBe('name')
  })
})

import { describe, expect, it } from 'vitest'
import { NO_SEAL, objectSeal, openText, sealText } from '../../../src/edge/tables/object-seal.ts'

const SECRET = 'a secret of this test, of 32 bytes or more'
const OLDER = 'an older secret of this test, of 32 bytes'
const TRIP = { tenant: 'acme', userId: 'ada', sessionId: 'trip' }

describe('what an object seals', () => {
  const seal = objectSeal([SECRET], TRIP)

  it('opens in its place, and has nothing of the text', () => {
    for (const text of ['', 'CANARY', '\u0001', '\ufeffa', 'é👍'.repeat(50_000)]) {
      const kept = sealText(seal, text, 'part 0 m1')
      expect(kept).not.toContain('CANARY')
      expect(openText(objectSeal([SECRET], TRIP), kept, 'part 0 m1')).toBe(text)
    }
    const bytes = Uint8Array.from({ length: 300 }, (_, at) => at)
    expect(seal.seal(bytes, 'chunk 7').length).toBe(bytes.length + seal.overhead)
    expect(seal.open(seal.seal(bytes, 'chunk 7'), 'chunk 7')).toEqual(bytes)
  })

  it.each([
    ['another place', seal, 'part 1 m1'],
    ['another secret', objectSeal([OLDER], TRIP), 'part 0 m1'],
    ['another session', objectSeal([SECRET], { ...TRIP, sessionId: 'other' }), 'part 0 m1'],
    ['another user', objectSeal([SECRET], { ...TRIP, userId: 'eve' }), 'part 0 m1'],
    ['another tenant', objectSeal([SECRET], { ...TRIP, tenant: 'other' }), 'part 0 m1'],
  ])('does not open with %s', (_, other, place) => {
    const kept = sealText(seal, 'CANARY', 'part 0 m1')
    expect(() => openText(other, kept, place)).toThrow(expect.objectContaining({ code: 'ERR_DECRYPT' }))
  })

  it('does not open where a byte is another one', () => {
    const kept = seal.seal(new Uint8Array(9), 'chunk 7')
    for (let at = 1; at < kept.length; at++) {
      const changed = Uint8Array.from(kept, (byte, place) => (place === at ? byte ^ 1 : byte))
      expect(() => seal.open(changed, 'chunk 7')).toThrow('cannot be decrypted')
    }
  })

  it('opens after the secret changed, for as long as the older one is given', () => {
    const kept = sealText(objectSeal([OLDER], TRIP), 'CANARY', 'here')
    expect(openText(objectSeal([SECRET, OLDER], TRIP), kept, 'here')).toBe('CANARY')
    const newer = sealText(objectSeal([SECRET, OLDER], TRIP), 'CANARY', 'here')
    expect(openText(seal, newer, 'here')).toBe('CANARY')
  })

  it('is read as it is where it was kept in the clear', () => {
    expect(openText(seal, sealText(NO_SEAL, '{"role":', 'here'), 'here')).toBe('{"role":')
    const bytes = new TextEncoder().encode('data: {}')
    expect(seal.open(bytes, 'chunk 7')).toEqual(bytes)
  })
})

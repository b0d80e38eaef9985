import { describe, expect, it } from 'vitest'
import { encryptionOf } from '../../../src/edge/objects/encryption.ts'

const SECRET = 'a-secret-of-these-tests-of-32-bytes-or-more'
const OLDER = 'an-older-secret-of-the-tests-of-32-bytes'

describe('by what a Worker encrypts', () => {
  it('is its MEMORY_KEY; without one it does not', () => {
    expect(encryptionOf({})).toBeUndefined()
    expect(encryptionOf({ MEMORY_KEY: '', MEMORY_KEY_PREVIOUS: '' })).toBeUndefined()
    expect(encryptionOf({ MEMORY_KEY: SECRET })).toEqual({ secret: SECRET, older: [] })
  })

  it('takes those that came before it along, parted by white space', () => {
    const MEMORY_KEY_PREVIOUS = ` ${OLDER}\n${OLDER}2`
    expect(encryptionOf({ MEMORY_KEY: SECRET, MEMORY_KEY_PREVIOUS })).toEqual({
      secret: SECRET,
      older: [OLDER, `${OLDER}2`],
    })
  })

  it('takes what openssl makes, as base64 and as hex', () => {
    const base64 = 'q83vEjRWeJCrze8SNFZ4kKvN7xI0VniQq83vEjRWeJA='
    for (const MEMORY_KEY of [base64, '0123456789abcdef'.repeat(2)])
      expect(encryptionOf({ MEMORY_KEY })?.secret).toBe(MEMORY_KEY)
  })

  it.each([
    ['MEMORY_KEY has fewer than 32 bytes', { MEMORY_KEY: 'a-secret-of-31-bytes-is-too-sho' }],
    ['MEMORY_KEY has fewer than 8 different characters', { MEMORY_KEY: 'abcdefg'.repeat(9) }],
    ['MEMORY_KEY has white space in it', { MEMORY_KEY: `${SECRET}\n` }],
    ['MEMORY_KEY_PREVIOUS has fewer than 32 bytes', { MEMORY_KEY: SECRET, MEMORY_KEY_PREVIOUS: 'short' }],
    ['MEMORY_KEY_PREVIOUS needs a MEMORY_KEY', { MEMORY_KEY_PREVIOUS: OLDER }],
  ])('is refused where %s', (reason, env) => {
    expect(() => encryptionOf(env)).toThrow(
      expect.objectContaining({ code: 'ERR_NOT_CONFIGURED', message: `encryption: ${reason}` }),
    )
  })
})

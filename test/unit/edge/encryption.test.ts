import { describe, expect, it } from 'vitest'
import { encryptionOf, keyIdOf } from '../../../src/edge/objects/encryption.ts'
import { secretKeyId, secretKeys } from '../../../src/stores/encrypted/index.ts'

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

  it('is the key whose id is pinned, or nothing', async () => {
    const MEMORY_KEY_ID = await secretKeyId(SECRET)
    expect(MEMORY_KEY_ID).toMatch(/^hkdf\.[\w-]{11}$/)
    expect(keyIdOf(SECRET)).toBe(MEMORY_KEY_ID)
    expect(encryptionOf({ MEMORY_KEY: SECRET, MEMORY_KEY_ID })).toMatchObject({ keyId: MEMORY_KEY_ID })
    for (const env of [{ MEMORY_KEY: OLDER, MEMORY_KEY_ID }, { MEMORY_KEY_ID }])
      expect(() => encryptionOf(env)).toThrow(
        expect.objectContaining({
          code: 'ERR_NOT_CONFIGURED',
          message: 'encryption: MEMORY_KEY is not the one that MEMORY_KEY_ID names',
        }),
      )
    const { info } = await secretKeys(SECRET).wrap(
      { userId: 'ada' },
      new Uint8Array(64),
      new Uint8Array(),
      undefined,
    )
    expect(info).toEqual({ id: MEMORY_KEY_ID })
  })

  it('keeps what is in the clear only where that is said', () => {
    expect(encryptionOf({ MEMORY_KEY: SECRET, MEMORY_PLAIN: 'keep' })).toMatchObject({ plain: 'keep' })
    for (const MEMORY_PLAIN of ['refuse', ''])
      expect(encryptionOf({ MEMORY_KEY: SECRET, MEMORY_PLAIN })).not.toHaveProperty('plain')
  })

  it.each([
    ['MEMORY_PLAIN must be keep or refuse', { MEMORY_KEY: SECRET, MEMORY_PLAIN: 'yes' }],
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

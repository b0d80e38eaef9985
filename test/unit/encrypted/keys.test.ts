import { describe, expect, it } from 'vitest'
import { mapStore } from '../../../src/index.ts'
import type { Scope } from '../../../src/ports/op.ts'
import { encrypt, importKey, newKey, prefixed } from '../../../src/stores/encrypted/cipher.ts'
import {
  cryptoKeys,
  encryptedStore,
  type Keys,
  passphraseKeys,
  secretKeyId,
  secretKeys,
} from '../../../src/stores/encrypted/index.ts'
import {
  type DataKey,
  keyOf,
  openBytes,
  openText,
  type Place,
  sealBytes,
  sealText,
} from '../../../src/stores/encrypted/sealed.ts'

const SECRET = 'a secret of this test, of 32 bytes or more'
const ADA = { tenant: 'acme', userId: 'ada' }
const PLACE = prefixed(['here'])

const place: Place = {
  scope: { ...ADA, sessionId: 'trip' },
  kind: 'message',
  opId: 'op-1',
  id: 'm1',
  field: 'body',
}
const others: { readonly [part: string]: Place } = {
  tenant: { ...place, scope: { ...place.scope, tenant: 'other' } },
  'no tenant': { ...place, scope: { userId: 'ada', sessionId: 'trip' } },
  user: { ...place, scope: { ...place.scope, userId: 'eve' } },
  session: { ...place, scope: { ...place.scope, sessionId: 'other' } },
  'no session': { ...place, scope: ADA },
  'names that join to the same': { ...place, scope: { ...place.scope, userId: 'adat', sessionId: 'rip' } },
  kind: { ...place, kind: 'put' },
  op: { ...place, opId: 'op-2' },
  id: { ...place, id: 'm2' },
  field: { ...place, field: 'bytes' },
}

async function newDataKey(id = 'AAAAAAAAAAA'): Promise<DataKey> {
  return { id, key: await importKey(newKey()) }
}

describe('what is sealed', () => {
  it('opens in its place', async () => {
    const key = await newDataKey()
    for (const text of ['', 'Hello.', '\ufeffe\u0301 👍 \0', 'x'.repeat(100_000)]) {
      const sealed = await sealText(key, place, text)
      expect(keyOf(sealed)).toBe(key.id)
      expect(await openText(key, place, sealed)).toBe(text)
    }
    const bytes = Uint8Array.from({ length: 1_000 }, (_, at) => at)
    expect(await openBytes(key, place, await sealBytes(key, place, bytes))).toEqual(bytes)
  })

  it.each(Object.entries(others))('does not open in another place: %s', async (_, other) => {
    const key = await newDataKey()
    await expect(openText(key, other, await sealText(key, place, 'Hello.'))).rejects.toMatchObject({
      code: 'ERR_DECRYPT',
      id: other.id,
    })
    const sealed = await sealBytes(key, place, new Uint8Array(9))
    await expect(openBytes(key, other, sealed)).rejects.toMatchObject({ code: 'ERR_DECRYPT' })
  })

  it('does not open with another key, nor with this one under another id', async () => {
    const key = await newDataKey()
    const sealed = await sealText(key, place, 'Hello.')
    for (const other of [await newDataKey(), { ...key, id: 'BBBBBBBBBBB' }])
      await expect(openText(other, place, sealed)).rejects.toMatchObject({ code: 'ERR_DECRYPT' })
  })

  it('has a nonce of its own each time, also from two tabs at once (T40)', async () => {
    const key = await importKey(newKey())
    const nonces = new Set<string>()
    const tab = async (): Promise<void> => {
      for (let at = 0; at < 1_000; at++)
        nonces.add(String((await encrypt(key, PLACE, new Uint8Array())).subarray(0, 12)))
    }
    await Promise.all([tab(), tab()])
    expect(nonces.size).toBe(2_000)
  })

  it('shares no key with what is sealed in another scope: each data key is wrapped for its own', async () => {
    const places = new Set<string>()
    const keys: Keys = {
      wrap: async (_, raw, bound) => {
        // The id of the data key is random: all before it says whose it is.
        places.add(String(bound.subarray(0, -15)))
        return { info: { id: 'none' }, bytes: raw }
      },
      unwrap: async (_, { bytes }) => bytes,
    }
    const scopes: readonly Scope[] = Object.values(others).map(({ scope }) => scope)
    for (const scope of scopes)
      await encryptedStore(mapStore(), keys)
        .open(scope)
        .attach({ id: 'a', mediaType: 'x/y', bytes: new Uint8Array() }, 0)
    expect(places.size).toBe(new Set(scopes.map((scope) => JSON.stringify(scope))).size)
  })
})

describe('keys from a secret', () => {
  it('open what they wrapped, for that tenant and user, in that place', async () => {
    const raw = newKey()
    const wrapped = await secretKeys(SECRET).wrap(ADA, raw, PLACE, undefined)
    expect(await secretKeys(SECRET).unwrap(ADA, wrapped, PLACE)).toEqual(raw)
    expect(wrapped.info.id).toMatch(/^hkdf\.[\w-]{11}$/)
    for (const [owner, bound, secret] of [
      [{ userId: 'ada' }, PLACE, SECRET],
      [{ ...ADA, tenant: 'other' }, PLACE, SECRET],
      [{ ...ADA, userId: 'eve' }, PLACE, SECRET],
      [ADA, prefixed(['there']), SECRET],
      [ADA, PLACE, `${SECRET}.`],
    ] as const)
      await expect(secretKeys(secret).unwrap(owner, wrapped, bound)).rejects.toThrow()
  })

  it('are no keys where the secret is short, or none', async () => {
    expect(() => secretKeys('too short')).toThrow(expect.objectContaining({ code: 'ERR_INVALID_ARGUMENT' }))
    const refused = (argument: string) => expect.objectContaining({ code: 'ERR_INVALID_ARGUMENT', argument })
    // A variable that is not set, and a secret that was not awaited.
    for (const given of [undefined, null, 7, Promise.resolve(SECRET)] as never[]) {
      expect(() => secretKeys(given)).toThrow(refused('secret'))
      await expect(secretKeyId(given)).rejects.toEqual(refused('secret'))
      expect(() => encryptedStore(mapStore(), given)).toThrow(refused('keys'))
      expect(() => cryptoKeys('vault/7', given)).toThrow(refused('key'))
      expect(() => encryptedStore(given, secretKeys(SECRET))).toThrow(refused('store'))
    }
    expect(() => secretKeys(new Uint8Array(31))).toThrow('32 bytes')
    secretKeys(new Uint8Array(32))
  })
})

describe('keys from a passphrase', () => {
  it('take the same characters for the same, however they were typed', async () => {
    const raw = newKey()
    const wrapped = await passphraseKeys('caf\u00e9').wrap(ADA, raw, PLACE, undefined)
    expect(await passphraseKeys('cafe\u0301').unwrap(ADA, wrapped, PLACE)).toEqual(raw)
    await expect(passphraseKeys('cafe').unwrap(ADA, wrapped, PLACE)).rejects.toThrow()
  })

  it('go on with the salt that was stored, unless the work has grown', async () => {
    const wrap = passphraseKeys('a passphrase').wrap(ADA, newKey(), PLACE, undefined)
    const { info } = await wrap
    const same = await passphraseKeys('a passphrase').wrap(ADA, newKey(), PLACE, info)
    expect(same.info).toEqual(info)
    const harder = await passphraseKeys('a passphrase', { iterations: 700_000 }).wrap(
      ADA,
      newKey(),
      PLACE,
      info,
    )
    expect(harder.info).toMatchObject({ iterations: 700_000 })
    expect(harder.info.salt).not.toBe(info.salt)
  })

  it('do not work for what somebody stored: too little is no protection, too much never ends', async () => {
    const { info, bytes } = await passphraseKeys('a passphrase').wrap(ADA, newKey(), PLACE, undefined)
    for (const iterations of [1, 2 ** 31 - 1]) {
      const changed = { ...info, iterations, id: `pbkdf2.${iterations}.${info.salt}` }
      await expect(
        passphraseKeys('a passphrase').unwrap(ADA, { info: changed, bytes }, PLACE),
      ).rejects.toThrow('not wrapped by a passphrase')
    }
  })

  it('are checked', () => {
    for (const iterations of [0, 599_999, 1e9, 600_000.5, Number.NaN])
      expect(() => passphraseKeys('x', { iterations })).toThrow('iterations')
    expect(() => passphraseKeys('')).toThrow('passphrase')
  })
})

describe('a key that the app holds', () => {
  it('opens what it wrapped', async () => {
    const keys = cryptoKeys('vault/7', await importKey(newKey()))
    const raw = newKey()
    const wrapped = await keys.wrap(ADA, raw, PLACE, undefined)
    expect(wrapped.info).toEqual({ id: 'vault/7' })
    expect(await keys.unwrap(ADA, wrapped, PLACE)).toEqual(raw)
    await expect(keys.unwrap(ADA, wrapped, prefixed(['there']))).rejects.toThrow()
  })

  it('must be one of AES-GCM that may encrypt and decrypt', async () => {
    const key = await crypto.subtle.importKey('raw', newKey(), 'AES-GCM', false, ['encrypt'])
    expect(() => cryptoKeys('one', key)).toThrow('AES-GCM')
  })
})

describe('an encrypted store', () => {
  it('checks its options', () => {
    const open = (options: object) => () => encryptedStore(mapStore(), secretKeys(SECRET), options)
    expect(open({ plain: 'yes' })).toThrow('plain')
    for (const opsPerKey of [0, 2 ** 22 + 1, 1.5]) expect(open({ opsPerKey })).toThrow('opsPerKey')
  })
})

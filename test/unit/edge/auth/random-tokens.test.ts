import fc from 'fast-check'
import { exportJWK, generateKeyPair } from 'jose'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { authenticatorOf } from '../../../../src/edge/auth/from-env.ts'
import { jwtAuthenticator } from '../../../../src/edge/auth/jwt.ts'
import { runs } from '../../support/runs.ts'
import {
  AUDIENCE,
  base64url,
  ISSUER,
  NOW,
  options,
  outcome,
  printed,
  request,
  SECRET,
  signed,
} from './support.ts'

const { publicKey, privateKey } = await generateKeyPair('ES256', { extractable: true })
const jwk = { ...(await exportJWK(publicKey)), kid: 'one' }

const { authenticate: bySecret, guests } = authenticatorOf(
  { JWT_SECRET: SECRET, JWT_ISSUER: ISSUER, JWT_AUDIENCE: AUDIENCE, GUEST_SECRET: SECRET },
  { clock: () => NOW },
)
const byKeys = jwtAuthenticator({
  ...options,
  jwks: `${ISSUER}/jwks`,
  fetch: async () => Response.json({ keys: [jwk] }),
})

const tokens = [
  { authenticate: bySecret, token: await signed() },
  { authenticate: bySecret, token: (await guests?.issue())?.token ?? '' },
  { authenticate: byKeys, token: await signed({}, privateKey, { alg: 'ES256', kid: 'one' }) },
]

const refused = { code: 'ERR_UNAUTHENTICATED' }

/** What a base64url text stands for: its last character may have bits that mean nothing. */
const meaning = (token: string): string =>
  token
    .split('.')
    .map((part) => Buffer.from(part, 'base64url').toString('hex'))
    .join('.')

const character = fc.constantFrom(...'ABCXYZabcxyz0189-_.=+/~ \u0000é')

describe('no token but one that was issued', () => {
  it('holds: any text', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(fc.string(), fc.base64String(), fc.stringMatching(/^[\w-]*\.[\w-]*\.[\w-]*$/)),
        async (text) => {
          for (const { authenticate } of tokens) {
            const header = new Request('https://memory.example', {
              headers: { Authorization: `Bearer ${asHeader(text)}` },
            })
            expect(await outcome(authenticate, header)).toMatchObject(refused)
          }
          await expect(guests?.verify(text)).rejects.toMatchObject(refused)
        },
      ),
      runs(200),
    )
  })

  it('holds: a good one with characters changed, left out or put in', async () => {
    const change = fc.record({
      at: fc.nat(),
      remove: fc.nat(3),
      insert: fc.array(character, { maxLength: 3 }),
    })
    await fc.assert(
      fc.asyncProperty(
        fc.nat(2),
        fc.array(change, { minLength: 1, maxLength: 3 }),
        async (which, changes) => {
          const { authenticate, token } = tokens[which] as (typeof tokens)[number]
          let mutated = token
          for (const { at, remove, insert } of changes) {
            const from = at % (mutated.length + 1)
            mutated = mutated.slice(0, from) + insert.join('') + mutated.slice(from + remove)
          }
          fc.pre(asHeader(mutated).trim() !== token && meaning(mutated) !== meaning(token))
          expect(await outcome(authenticate, request(asHeader(mutated)))).toMatchObject(refused)
        },
      ),
      runs(500),
    )
  })

  it('holds: a good one with another header or other claims', async () => {
    const value = fc.oneof(
      fc.string(),
      fc.double(),
      fc.constant(null),
      fc.constant('none'),
      fc.constant('HS256'),
    )
    const name = fc.oneof(
      fc.constantFrom('alg', 'kid', 'typ', 'jwk', 'sub', 'exp', 'iss', 'tenant'),
      fc.string(),
    )
    await fc.assert(
      fc.asyncProperty(
        fc.nat(2),
        fc.nat(1),
        fc.dictionary(name, value, { minKeys: 1 }),
        async (which, part, changes) => {
          const { authenticate, token } = tokens[which] as (typeof tokens)[number]
          const parts = token.split('.')
          const before = Buffer.from(parts[part] ?? '', 'base64url').toString()
          const after = JSON.stringify({ ...(JSON.parse(before) as object), ...changes })
          fc.pre(after !== before)
          parts[part] = base64url(after)
          expect(await outcome(authenticate, parts.join('.'))).toMatchObject(refused)
        },
      ),
      runs(300),
    )
  })
})

describe('a refusal', () => {
  afterEach(() => void vi.restoreAllMocks())

  it('holds nothing of the token, nor of what it says, and is printed nowhere', async () => {
    const consoles = (['log', 'info', 'warn', 'error', 'debug'] as const).map((name) =>
      vi.spyOn(console, name),
    )
    const canary = 'CANARY-7f3a'
    const canaries = [
      canary,
      `${canary}.${canary}.${canary}`,
      await signed({ exp: 1, note: canary }),
      await signed({ aud: canary }),
      await signed({ iss: canary }),
      await signed({ sub: `guest_${canary}` }),
      await signed({ sub: canary.repeat(30) }),
      await signed({ sub: [canary] }),
      await signed({ exp: canary }),
      await signed({}, undefined, { alg: 'HS256', kid: canary, crit: [canary], [canary]: true }).catch(
        () => canary,
      ),
      `${base64url(JSON.stringify({ alg: canary }))}.e30.${canary}`,
    ]
    for (const token of canaries) {
      for (const { authenticate } of tokens) {
        const error = await outcome(authenticate, token)
        expect(error).toMatchObject(refused)
        expect(printed(error)).not.toContain(canary)
        expect(printed(error)).not.toContain(token)
        for (const part of token.split('.').filter(({ length }) => length > 8))
          expect(printed(error)).not.toContain(part)
      }
    }
    const header = await outcome(bySecret, request(undefined, { Authorization: `Basic ${canary}` }))
    expect(printed(header)).not.toContain(canary)
    for (const spied of consoles) expect(spied).not.toHaveBeenCalled()
  })
})

/** A text as a header can hold it. */
function asHeader(text: string): string {
  return text.replace(/[^ -~]/g, '*')
}

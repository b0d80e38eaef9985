import { describe, expect, it } from 'vitest'
import { shield } from '../../../../src/edge/auth/shield.ts'
import type { Principal } from '../../../../src/edge/principal.ts'
import { request } from './support.ts'

const from = (address?: string): Request =>
  request(undefined, address === undefined ? {} : { 'CF-Connecting-IP': address })

/** A limiter that notes its keys. */
function limiter(success = true) {
  const keys: string[] = []
  return {
    keys,
    limit: async ({ key }: { readonly key: string }) => {
      keys.push(key)
      return { success }
    },
  }
}

async function keyOf(call: Request, principal?: Principal): Promise<string | undefined> {
  const { keys, limit } = limiter()
  await shield({ limit })(call, principal)
  return keys[0]
}

describe('the shield', () => {
  it('lets calls pass while the limiter does', async () => {
    await expect(shield(limiter())(from('192.0.2.1'))).resolves.toBeUndefined()
  })

  it('refuses the others, and says how long to wait', async () => {
    for (const [options, retryAfter] of [
      [{}, 60],
      [{ periodSeconds: 10 }, 10],
    ] as const)
      await expect(shield(limiter(false), options)(from('192.0.2.1'))).rejects.toMatchObject({
        code: 'ERR_RATE_LIMIT',
        retryAfter,
      })
  })

  it('lets calls pass where the limiter fails, in whichever way', async () => {
    const failing = [
      { limit: () => Promise.reject(new Error('internal')) },
      {
        limit: () => {
          throw new Error('internal')
        },
      },
    ]
    for (const broken of failing) await expect(shield(broken)(from('192.0.2.1'))).resolves.toBeUndefined()
  })

  it('counts users by who they are, wherever they are', async () => {
    const ada = { userId: 'ada' }
    expect(await keyOf(from('192.0.2.1'), ada)).toBe(await keyOf(from('192.0.2.2'), ada))
    const keys = [
      ada,
      { userId: 'bob' },
      { tenant: 'acme', userId: 'ada' },
      { tenant: 'acme","ada', userId: '' },
      { userId: 'acmeada' },
      { tenant: 'ada', userId: 'acme' },
    ].map((principal) => keyOf(from('192.0.2.1'), principal))
    expect(new Set(await Promise.all(keys)).size).toBe(6)
  })

  it('counts strangers and guests by their address, so that a new guest is no new caller', async () => {
    const guest = (id: string): Principal => ({ userId: `guest_${id}`, isGuest: true })
    const keys = [
      keyOf(from('192.0.2.1')),
      keyOf(from('192.0.2.1'), guest('1')),
      keyOf(from('192.0.2.1'), guest('2')),
    ]
    expect(new Set(await Promise.all(keys)).size).toBe(1)
    expect(await keyOf(from('192.0.2.1'))).not.toBe(await keyOf(from('192.0.2.2')))
    expect(await keyOf(from(), guest('1'))).not.toBe(await keyOf(from(), guest('2')))
    expect(await keyOf(from())).toBe('unknown')
  })

  it.each([
    ['192.0.2.1', '192.0.2.1'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
    ['2001:0DB8:0001:0002::1', '2001:db8:1:2'],
    ['2001:db8:1:2::', '2001:db8:1:2'],
    ['2001:db8::1', '2001:db8:0:0'],
    ['2001:db8:0:0:1::', '2001:db8:0:0'],
    ['::1', '0:0:0:0'],
    ['::ffff:192.0.2.1', '::ffff:192.0.2.1'],
  ])('takes an IPv6 network of 64 bits for one address: %s', async (address, network) => {
    expect(await keyOf(from(address))).toBe(`address:${network}`)
  })
})

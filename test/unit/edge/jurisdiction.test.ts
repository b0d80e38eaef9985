import { describe, expect, it } from 'vitest'
import type { EdgeBindings } from '../../../src/edge/cloudflare.ts'
import { inJurisdiction } from '../../../src/edge/objects/jurisdiction.ts'

/** A namespace that says which jurisdiction it was asked for. */
const namespace = (name: string) => ({ jurisdiction: (of: string) => `${name} in ${of}` })
const env = {
  SESSIONS: namespace('sessions'),
  USERS: namespace('users'),
  BUDGET: '16000',
} as unknown as EdgeBindings & { readonly BUDGET: string }

describe('an environment in a jurisdiction', () => {
  it('has both kinds of objects there, and all else as it was', () => {
    expect(inJurisdiction(env, 'eu')).toEqual({
      SESSIONS: 'sessions in eu',
      USERS: 'users in eu',
      BUDGET: '16000',
    })
  })

  it('has the object of the deployment there too, where one is bound', () => {
    const DEPLOYMENT = namespace('deployment')
    expect(inJurisdiction({ ...env, DEPLOYMENT } as unknown as EdgeBindings, 'us')).toMatchObject({
      DEPLOYMENT: 'deployment in us',
    })
  })

  it('is itself where none is set', () => {
    expect(inJurisdiction(env, undefined)).toBe(env)
    expect(inJurisdiction(env, '')).toBe(env)
  })

  it('is refused where the jurisdiction is not known, since its data would be elsewhere', () => {
    expect(() => inJurisdiction(env, 'EU')).toThrow(expect.objectContaining({ code: 'ERR_NOT_CONFIGURED' }))
  })
})

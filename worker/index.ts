/**
 * The edge process: wiring only. One Durable Object a session, one a user, one in all, and the HTTP
 * API in front of them.
 */
import { waitUntil } from 'cloudflare:workers'
import { encryptionOf, inJurisdiction } from '../src/edge/cloudflare.ts'
import { authenticatorOf, createApp, requestLogOf } from '../src/edge/hono.ts'
import { isBare } from '../src/edge/models/from-env.ts'
import type { Env } from './env.ts'
import { isOn } from './is-on.ts'
import { checkObjects } from './settings.ts'

export { DeploymentObject, SessionObject, UserObject } from './objects.ts'

export default createApp((env: Env) => {
  checkObjects(env)
  return {
    objects: inJurisdiction(env, env.JURISDICTION),
    ...authenticatorOf(env, { waitUntil }),
    docsScript: '/rapidoc-min.js',
    health: {
      encrypted: encryptionOf(env) !== undefined,
      ...(env.AUTH === 'development' && isBare(env) && { demo: true }),
    },
    ...(isOn('CIPHERTEXT', env.CIPHERTEXT) && { ciphertext: true }),
    ...(env.SHIELD && { shield: env.SHIELD }),
    log: requestLogOf(env),
  }
})

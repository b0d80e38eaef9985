/** The edge process: wiring only. One Durable Object a session, one a user, and the HTTP API in front of them. */
import { createApp } from '../src/edge/hono.ts'
import type { Env } from './env.ts'

export { SessionObject, UserObject } from './objects.ts'
export default createApp((env: Env) => ({ objects: env, authenticate: async () => ({ userId: 'local' }) }))

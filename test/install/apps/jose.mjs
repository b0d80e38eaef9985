import { guestTokens, jwtAuthenticator } from 'plimsoll/hono'
import { refused } from './refused.mjs'

const secret = 'a secret of at least thirty-two bytes'
const tooOld = 'plimsoll/hono: needs `jose` 6 or later, found an older one'
await refused(tooOld, () => jwtAuthenticator({ secret, issuer: 'i', audience: 'a' }))
await refused(tooOld, () => guestTokens({ secret, clock: Date.now, newId: () => 'id' }))

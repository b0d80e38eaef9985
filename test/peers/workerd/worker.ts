import { DurableObject } from 'cloudflare:workers'

/** An object whose database the tests write to, from within. */
export class Threads extends DurableObject {}

export default { fetch: () => new Response(null, { status: 404 }) }

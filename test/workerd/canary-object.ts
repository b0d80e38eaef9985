/**
 * The worker of `test/e2e/raw-files.test.ts`: the library in a Durable Object, without the edge.
 */
import { DurableObject } from 'cloudflare:workers'
import type { Store } from '../../src/ports/store.ts'
import { durableObjectStore } from '../../src/stores/durable-object.ts'
import { encryptedStore, secretKeys } from '../../src/stores/encrypted/index.ts'
import { type Canaries, eraseCanaries, writeCanaries } from '../everywhere/canaries.ts'

interface Call {
  /** Undefined: erase what is there. */
  readonly canaries?: Canaries
  /** Undefined: in the clear. */
  readonly secret?: string
}

export class CanaryObject extends DurableObject {
  override async fetch(request: Request): Promise<Response> {
    const { canaries, secret }: Call = await request.json()
    const inner = durableObjectStore(this.ctx.storage)
    const store: Store = secret === undefined ? inner : encryptedStore(inner, secretKeys(secret))
    if (canaries) return new Response(await writeCanaries(store, canaries))
    await eraseCanaries(store)
    return new Response('erased')
  }
}

export default {
  /** The path names the object. */
  fetch(request: Request, { OBJECTS }: { readonly OBJECTS: DurableObjectNamespace }): Promise<Response> {
    return OBJECTS.getByName(new URL(request.url).pathname).fetch(request)
  },
}

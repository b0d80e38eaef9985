import { type Found, NAMED } from '../../operations/forget/certificate.ts'
import { eraseSession } from '../../operations/forget/erase.ts'
import { webHost } from '../../platform/web.ts'
import { PlimsollError } from '../../ports/errors.ts'
import type { Scope } from '../../ports/op.ts'
import type { Store } from '../../ports/store.ts'
import type { PushRejection, SyncOp } from '../../ports/sync.ts'
import { durableObjectStore } from '../../stores/durable-object.ts'
import { isKeyRegister } from '../../stores/encrypted/key-ring.ts'
import { keyOf, keyOfBytes } from '../../stores/encrypted/sealed.ts'
import { homeStore } from '../../sync/home.ts'
import { readScopes } from '../../sync/read.ts'
import { syncServer } from '../../sync/server.ts'

const DAY_MS = 86_400_000

/**
 * The homes of all scopes of one user, in the user's object: they keep and order what devices have
 * encrypted, and nothing else. Nothing here reads a text.
 */
export class CipherHome {
  readonly #store: Store
  readonly #onChange: () => void

  /** @param onChange called once something was written */
  constructor(storage: DurableObjectStorage, onChange: () => void) {
    this.#store = durableObjectStore(storage)
    this.#onChange = onChange
  }

  /** Answers a request of a replica of the user's, as every home does. */
  async answer(user: Scope, request: Request, bytes: Uint8Array<ArrayBuffer>): Promise<Response> {
    if (request.method === 'PUT') {
      if (keyOfBytes(bytes) === undefined)
        throw new PlimsollError('ERR_INVALID_ARGUMENT', 'attach: the bytes are not encrypted')
      // What no op named within a day, as an upkeep removes it elsewhere.
      await this.#store.removeUnused(webHost.now() - DAY_MS)
    }
    const answer = syncServer({
      store: this.#store,
      authenticate: async () => user,
      check: async () => plainRefused,
      onChange: this.#onChange,
    })
    return answer(request)
  }

  /** Erases all scopes of the user. Idempotent. @returns what they held */
  async erase(): Promise<HeldByUser> {
    const parts = { store: homeStore(this.#store), host: webHost, parts: [] }
    const first: string[] = []
    let [count, messages, isEmpty] = [0, 0, true]
    for (const scope of await readScopes(this.#store)) {
      const held = await eraseSession(parts, scope)
      isEmpty &&= held.isEmpty
      messages += held.messages
      if (held.isEmpty || scope.sessionId === undefined) continue
      count++
      if (first.length < NAMED) first.push(scope.sessionId)
    }
    return { isEmpty, found: { sessions: { count, first }, messages: { count: messages, first: [] } } }
  }
}

/** What all scopes of a user held, for a certificate. */
export interface HeldByUser {
  readonly isEmpty: boolean
  readonly found: Found
}

/** Bodies of ops are ciphertext, but for keys, which are wrapped. */
function plainRefused({ envelope: { key = '' }, bodies, beside = [] }: SyncOp): PushRejection | undefined {
  const all = [...(isKeyRegister(key) ? [] : bodies), ...beside.map(({ body }) => body)]
  return all.every((body) => body === null || keyOf(body) !== undefined) ? undefined : 'forbidden'
}

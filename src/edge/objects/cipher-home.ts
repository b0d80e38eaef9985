import { decide } from '../../kernel/log/decide.ts'
import { sealOp } from '../../kernel/log/seal.ts'
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

  /** Erases all scopes of the user. @returns the sessions that held anything */
  async erase(): Promise<readonly string[]> {
    const sessions: string[] = []
    for (const scope of await readScopes(this.#store)) {
      const home = homeStore(this.#store).open(scope)
      const { seq, ordinal } = await home.head()
      if (seq > 0) await home.commit([sealOp({ kind: 'erase', opId: webHost.newId() })], decide)
      if (ordinal > 0 && scope.sessionId !== undefined) sessions.push(scope.sessionId)
      await home.close()
    }
    return sessions
  }
}

/** Bodies of ops are ciphertext, but for keys, which are wrapped. */
function plainRefused({ envelope: { key = '' }, bodies, beside = [] }: SyncOp): PushRejection | undefined {
  const all = [...(isKeyRegister(key) ? [] : bodies), ...beside.map(({ body }) => body)]
  return all.every((body) => body === null || keyOf(body) !== undefined) ? undefined : 'forbidden'
}

import { type Client, createClient } from '../../client/client.ts'
import type { ChatPlatform, ChatSettings } from '../settings.ts'
import type { Identity } from './identity.ts'

export interface EdgeAccessParts {
  readonly src: string
  readonly platform: ChatPlatform
  /** With it the names of databases and locks begin. */
  readonly name: string
  readonly identity: Identity
  /** The page's own way to a token, for who is signed in. */
  readonly getToken: () => ChatSettings['getToken']
  /** The token that the page gave when somebody signed in. */
  readonly token: () => string | undefined
  /**
   * Contract: throws where the page's token is not to be used; undefined: it gave none, and a
   * guest's is used. Default: any is used.
   */
  readonly check?: (token: string | undefined) => void
}

/** How an edge is called for who uses the widget. */
export class EdgeAccess {
  readonly client: Client
  readonly #parts: EdgeAccessParts

  constructor(parts: EdgeAccessParts) {
    this.#parts = parts
    this.client = this.#clientWith((refused) => this.token(refused))
  }

  /** @param token whose; of nobody else's calls */
  clientOf(token: string): Client {
    return this.#clientWith(token)
  }

  /**
   * @param refused the token that the edge refused
   * @throws what `check` throws
   */
  async token(refused?: string): Promise<string> {
    const { getToken, token, platform, name, identity, check } = this.#parts
    const own = getToken()
    const given = own ? await own(refused) : token()
    check?.(given)
    if (given !== undefined) return given
    // Of all calls and tabs that have none, one asks for it: each would be another guest.
    return platform.locks.request(`${name}/guest`, {}, async () => {
      const { guestToken } = identity
      if (guestToken !== undefined && guestToken !== refused) return guestToken
      const { token } = await this.client.guests.create()
      identity.guestToken = token
      return token
    })
  }

  #clientWith(token: string | ((refused?: string) => Promise<string>)): Client {
    const { src, platform } = this.#parts
    const { fetch, WebSocket, newId } = platform
    return createClient({ baseUrl: src, token, fetch, newId, ...(WebSocket && { WebSocket }) })
  }
}

import { type Client, createClient } from '../../client/client.ts'
import type { ChatPlatform, ChatSettings } from '../settings.ts'
import { edgeHome } from './edge-home.ts'
import { sayAtEdge } from './edge-session.ts'
import type { Home } from './home.ts'
import { idbOutbox, memoryOutbox } from './idb-outbox.ts'
import type { Identity } from './identity.ts'
import { Outbox } from './outbox.ts'

export interface EdgeParts {
  readonly src: string
  readonly platform: ChatPlatform
  /** With it the names of databases and locks begin. */
  readonly name: string
  readonly identity: Identity
  /** The page's own way to a token, for who is signed in. */
  readonly getToken: () => ChatSettings['getToken']
  /** The token that the page gave when somebody signed in. */
  readonly token: () => string | undefined
  /** Told of each session of which messages were sent, once all were. */
  readonly onSent: (sessionId: string) => void
}

/**
 * An edge, as one user of the widget has it: the sessions there, and what waits to be sent. Loaded
 * by pages that have one.
 */
export class Edge {
  readonly home: Home
  readonly outbox: Outbox
  readonly #parts: EdgeParts

  constructor(parts: EdgeParts) {
    const { src, platform, name, identity, onSent } = parts
    this.#parts = parts
    const client = this.client()
    this.outbox = new Outbox({
      store: platform.indexedDB ? idbOutbox(platform.indexedDB, `${name}/outbox`) : memoryOutbox(),
      owner: `${src} ${identity.owner}`,
      locks: platform.locks,
      lockName: `${name}/outbox`,
      network: platform.network,
      sleep: platform.sleep,
      send: async ({ id, sessionId, text, title }) => {
        const named = title === undefined ? {} : { title }
        await sayAtEdge(client, sessionId, { id, role: 'user', content: text }, named)
      },
      onSent,
    })
    const { now, network } = platform
    this.home = edgeHome({ client, outbox: this.outbox, now, isOnline: () => network.isOnline() })
  }

  /** @param token whose; default: who uses the widget */
  client(token?: string): Client {
    const { src, platform } = this.#parts
    const { fetch, WebSocket, newId } = platform
    const client = createClient({
      baseUrl: src,
      token: token ?? ((refused) => this.#tokenOf(client, refused)),
      fetch,
      newId,
      ...(WebSocket && { WebSocket }),
    })
    return client
  }

  /**
   * Has a session answered that is not on the screen: the edge goes on by itself once it was asked.
   */
  async answerUnseen(sessionId: string): Promise<void> {
    const { signal } = new AbortController()
    const session = this.home.session(sessionId)
    await session.reply({ signal, leave: signal, tell: () => {} }).catch(() => {})
  }

  async #tokenOf(client: Client, refused: string | undefined): Promise<string> {
    const { getToken, token, platform, name, identity } = this.#parts
    const own = getToken()
    if (own) return own(refused)
    const given = token()
    if (given !== undefined) return given
    // Of all calls and tabs that have none, one asks for it: each would be another guest.
    return platform.locks.request(`${name}/guest`, {}, async () => {
      const { guestToken } = identity
      if (guestToken !== undefined && guestToken !== refused) return guestToken
      const { token } = await client.guests.create()
      identity.guestToken = token
      return token
    })
  }
}

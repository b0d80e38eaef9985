import { type Client, createClient } from '../../client/client.ts'
import { PlimsollError } from '../../ports/errors.ts'
import type { ChatPlatform, ChatSettings } from '../settings.ts'
import { type Identity, mayBe, subjectOf } from './identity.ts'
import type { OutboxEntry } from './outbox.ts'

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
  readonly #owner: string

  constructor(parts: EdgeAccessParts) {
    this.#parts = parts
    this.#owner = parts.identity.owner
    this.client = this.#clientWith((refused) => this.token(refused))
  }

  /** @param token whose; of nobody else's calls */
  clientOf(token: string): Client {
    return this.#clientWith(token)
  }

  /**
   * @param refused the token that the edge refused
   * @throws what `check` throws; ERR_UNAUTHENTICATED: another tab has signed in or out
   */
  async token(refused?: string): Promise<string> {
    const { platform, name, identity } = this.#parts
    // What the page gives would be taken for the next one's.
    this.checkOwner()
    const given = await this.given(refused)
    if (given !== undefined) return given
    // One that was claimed is refused, too, before it is known here who has signed in.
    if (refused)
      await platform.locks.request(identity.lockName, { ifAvailable: true }, async (lock) =>
        this.checkOwner(lock && platform.storage.getItem(`${name}/claimed`) !== refused),
      )
    // Of all calls and tabs that have none, one asks for it: each would be another guest.
    return platform.locks.request(`${name}/guest`, {}, async () => {
      this.checkOwner()
      const { guestToken } = identity
      if (guestToken && guestToken !== refused) return guestToken
      const { token } = await this.client.guests.create()
      // Else it would be that of who comes next.
      this.checkOwner()
      identity.guestToken = token
      return token
    })
  }

  /** The page's own token, where it gives one. @throws as {@link token} */
  async given(refused?: string): Promise<string | undefined> {
    const { getToken, token, check } = this.#parts
    const own = getToken()
    const given = own ? await own(refused) : token()
    this.checkOwner()
    check?.(given)
    return given
  }

  /**
   * Writes something for who uses the widget, not while a tab signs somebody in or out.
   *
   * @throws ERR_UNAUTHENTICATED: another tab has; nothing is written
   */
  writing<Done>(write: () => Promise<Done>): Promise<Done> {
    const { platform, identity } = this.#parts
    return platform.locks.request(identity.lockName, {}, async () => {
      this.checkOwner()
      return write()
    })
  }

  /**
   * @param isSo whether it may be as it was, as far as is known. Default: it may
   * @throws ERR_UNAUTHENTICATED: another tab has signed in or out
   */
  checkOwner(isSo: unknown = true): void {
    if (!isSo || this.#parts.identity.owner !== this.#owner)
      throw new PlimsollError('ERR_UNAUTHENTICATED', 'chat: another tab has signed in or out')
  }

  #clientWith(token: string | ((refused?: string) => Promise<string>)): Client {
    const { src, platform } = this.#parts
    const { fetch, WebSocket, newId } = platform
    return createClient({ baseUrl: src, token, fetch, newId, ...(WebSocket && { WebSocket }) })
  }
}

/** Who uses the widget, at which edge. */
export interface Author {
  readonly src: string
  readonly owner: string
  /** As `Identity.subject`. */
  readonly subject: string | undefined
}

/** Whether what waits is of who uses the widget, who may have signed out since it was said. */
export function isOwn({ owner, subject }: Pick<OutboxEntry, 'owner' | 'subject'>, now: Author): boolean {
  if (subject && subject === now.subject) return owner.startsWith(`${now.src} `)
  return owner === `${now.src} ${now.owner}` && mayBe(subject, now.subject)
}

/**
 * What is kept here for an edge that does not know of it goes with nobody else's token.
 *
 * @param known whom the page's tokens named when it was written, as {@link Identity.subject}
 * @param token the page's; undefined: a guest's would be used
 * @returns whom it names
 * @throws ERR_UNAUTHENTICATED
 */
export function checkSubject(known: string | undefined, token: string | undefined): string | undefined {
  const subject = token === undefined ? undefined : (subjectOf(token) ?? '')
  if (mayBe(known, subject)) return subject
  throw new PlimsollError('ERR_UNAUTHENTICATED', 'chat: what is here is a user’s who is not signed in')
}

import type { ChatPlatform } from '../settings.ts'

/** Who uses the widget in this browser, as it is kept. */
interface Kept {
  /** Random, for who has not signed in. */
  readonly guestId: string
  /** A guest's at the edge. */
  readonly guestToken?: string | undefined
  /** Whose the local sessions are, once it is known. */
  readonly userId?: string
  /** Whom the page's tokens name; empty where they say it to nobody here. */
  readonly subject?: string | undefined
  /** A move of local sessions that was begun. */
  readonly moving?: Move
}

export interface Move {
  readonly from: string
  readonly to: string
  /** Whether all is at its new place, and not yet gone from the old one. */
  readonly isCopied?: boolean
}

/** Who uses the widget: kept in the browser's storage, so that a reload finds the same sessions. */
export class Identity {
  readonly #platform: Pick<ChatPlatform, 'storage' | 'newId'>
  /** Under it the browser keeps who that is; it is removed where somebody signs out. */
  readonly key: string
  readonly #onHeard: (subject: string | undefined) => void
  #heard: string | undefined
  /** Whether this tab has heard of somebody, or of nobody, and not an earlier page alone. */
  hasHeard = false
  /** Names the lock under which somebody signs in or out, and all write for who is signed in. */
  readonly lockName: string

  /**
   * @param onHeard told before a token names somebody in this tab for the first time, or another
   * one
   */
  constructor(
    platform: Pick<ChatPlatform, 'storage' | 'newId'>,
    name: string,
    onHeard: (subject: string | undefined) => void,
  ) {
    this.#platform = platform
    this.key = `${name}/identity`
    this.#onHeard = onHeard
    this.#heard = this.subject
    this.lockName = `${name}/user`
  }

  /** Whose the local sessions are. */
  get owner(): string {
    const { userId, guestId } = this.#read()
    return userId ?? guestId
  }

  get isGuest(): boolean {
    return this.#read().userId === undefined
  }

  get guestToken(): string | undefined {
    return this.#read().guestToken
  }

  set guestToken(token: string | undefined) {
    this.#write({ ...this.#read(), guestToken: token })
  }

  /** When an edge erases what it has of a guest, where it says so. Undefined: this is none. */
  get guestEnd(): number | undefined {
    const { guestToken, subject } = this.#read()
    const { exp } = guestToken && subject === undefined ? claimsOf(guestToken) : {}
    return typeof exp === 'number' ? exp * 1000 : undefined
  }

  /** Whom the page's tokens name; empty where they say it to nobody here. */
  get subject(): string | undefined {
    return this.#read().subject
  }

  set subject(subject: string | undefined) {
    if (!this.hasHeard || subject !== this.#heard) this.#onHeard(subject)
    this.hasHeard = true
    this.#heard = subject
    const kept = this.#read()
    if (subject !== kept.subject) this.#write({ ...kept, subject })
  }

  /** As {@link subject}, as far as this tab has heard. */
  get heard(): string | undefined {
    return this.#heard
  }

  /** The move that was begun and has not come to its end. */
  get moving(): Move | undefined {
    return this.#read().moving
  }

  /** Notes where local sessions go, before the first of them does. */
  beginMove(to: string): Move {
    const move = { from: this.owner, to }
    this.#write({ ...this.#read(), moving: move })
    return move
  }

  /** All of them are at their new place as well. */
  noteCopied(move: Move): void {
    this.#write({ ...this.#read(), moving: { ...move, isCopied: true } })
  }

  /** All of them are there: from now on the user is whose they are. */
  endMove({ to }: Move): void {
    const { moving: _, ...kept } = this.#read()
    this.#write({ ...kept, guestId: this.#platform.newId(), userId: to })
  }

  /** This tab has heard of nobody. */
  leave(): void {
    this.#heard = undefined
  }

  /** Nobody is known any more. @returns what takes that back */
  forget(): () => void {
    const { storage } = this.#platform
    const [heard, kept] = [this.#heard, storage.getItem(this.key)]
    this.leave()
    storage.removeItem(this.key)
    return () => {
      this.#heard = heard
      if (kept !== null) storage.setItem(this.key, kept)
    }
  }

  #read(): Kept {
    const text = this.#platform.storage.getItem(this.key)
    if (text !== null) {
      try {
        const kept: unknown = JSON.parse(text)
        if (typeof (kept as Partial<Kept> | null)?.guestId === 'string') return kept as Kept
      } catch {
        // Somebody else's: it is written over.
      }
    }
    const fresh: Kept = { guestId: this.#platform.newId() }
    this.#write(fresh)
    return fresh
  }

  #write(kept: Kept): void {
    this.#platform.storage.setItem(this.key, JSON.stringify(kept))
  }
}

/** Whether what was written as one subject may be another one's, where tokens tell. */
export function mayBe(known: string | null | undefined, subject: string | undefined): boolean {
  return known == null || (subject !== undefined && (!known || !subject || known === subject))
}

/** Whom a token names, where it can be read: only to tell apart what is kept here. */
export function subjectOf(token: string): string | undefined {
  const { sub } = claimsOf(token)
  return typeof sub === 'string' ? sub : undefined
}

function claimsOf(token: string): { readonly sub?: unknown; readonly exp?: unknown } {
  try {
    const payload = token.split('.')[1]?.replaceAll('-', '+').replaceAll('_', '/') ?? ''
    return JSON.parse(atob(payload)) ?? {}
  } catch {
    return {}
  }
}

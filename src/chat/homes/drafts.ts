import type { SessionEntry } from '../ports.ts'
import type { ChatStorage } from '../settings.ts'
import { mayBe } from './identity.ts'

/** Names the draft of a conversation in which nothing was said yet. */
export const NEW = 'new'
/** Names that of another one: two homes may have one of the same id. */
export function draftOf(session: Pick<SessionEntry, 'home' | 'sessionId'> | undefined): string {
  return `${session?.home}/${session?.sessionId}`
}

/** Of more conversations the oldest drafts go: all are to have room. */
const MOST = 100
/** UTF-16 units. */
const LONGEST = 20_000

/** Whose it is: as {@link Identity.heard}; null or absent: nobody's whose name is known. */
type Draft = readonly [name: string, text: string, by?: string | null | undefined]

/**
 * `asked`: somebody asks for them. `named`: it is known whose they are. `left`: they are somebody
 * else's from now on. `gone`: they are forgotten.
 */
export type DraftEvent = 'asked' | 'named' | 'left' | 'gone'

/** Of who uses the chat. */
export interface OwnDrafts {
  /** Whom the page's tokens named; undefined: nobody who is known. */
  readonly by: string | undefined
  /** @returns empty: there is none */
  read(name: string): string
  /**
   * Never rejects: a draft that cannot be kept stays in its field. Of one above 20,000 UTF-16 units
   * the older state stays.
   */
  write(name: string, text: string): void
}

/** What was typed and not sent, by conversation: kept in the browser for after a reload. */
export interface Drafts extends Omit<OwnDrafts, 'by'> {
  /** Of who uses the chat now, also once another one does. Writes nothing once all is forgotten. */
  own(): OwnDrafts
  /** Everybody's. */
  all(): readonly Draft[]
  /** Forgets all, and has those who show one do so, too. */
  clear(): void
  /**
   * Tells those who show one what is about to happen.
   *
   * @param whose from now on what was nobody's; default: nobody's still
   */
  tell(event: DraftEvent, whose?: string): void
  subscribe(listener: (event: DraftEvent) => void): void
}

/** @param by gives who uses the chat; default: nobody whose name is known */
export function storedDrafts(storage: ChatStorage, key: string, by?: () => string | undefined): Drafts {
  const listeners: ((event: DraftEvent) => void)[] = []
  const all = (): readonly Draft[] => {
    try {
      return JSON.parse(storage.getItem(key) ?? '[]').filter(Array.isArray)
    } catch {
      // Somebody else's: it is written over.
      return []
    }
  }
  const put = (drafts: readonly Draft[]): void => {
    try {
      if (drafts.length > 0) storage.setItem(key, JSON.stringify(drafts))
      else storage.removeItem(key)
    } catch {
      // There is no room.
    }
  }
  let forgotten = 0
  const own = (): OwnDrafts => {
    const whose = by?.()
    const before = forgotten
    const isOwn = (name: string, [other, , their]: Draft): boolean => other === name && mayBe(their, whose)
    return {
      by: whose,
      read: (name) => all().findLast((draft) => isOwn(name, draft))?.[1] ?? '',
      write(name, text) {
        if (before !== forgotten || text.length > LONGEST) return
        const others = all().filter((draft) => !isOwn(name, draft))
        put(text.trim() === '' ? others : [...others, [name, text, whose] as const].slice(-MOST))
      },
    }
  }
  const tell = (event: DraftEvent, heirs?: string): void => {
    if (event === 'gone') forgotten++
    for (const listener of listeners) listener(event)
    if (event !== 'gone') put(all().map(([name, text, whose]) => [name, text, whose ?? heirs]))
  }
  return {
    own,
    read: (name) => own().read(name),
    write: (name, text) => own().write(name, text),
    all,
    clear() {
      tell('gone')
      storage.removeItem(key)
    },
    tell,
    subscribe(listener) {
      listeners.push(listener)
    },
  }
}

import type { ChatStorage } from '../settings.ts'
import { mayBe } from './identity.ts'

/** Of more conversations the oldest drafts go. */
const MOST = 20
/** UTF-16 units; longer ones are not kept. */
const LONGEST = 20_000

/** Whose it is: as {@link Identity.heard}; absent: nobody's whose name is known. */
type Draft = readonly [name: string, text: string, by?: string]

/**
 * `named`: it is known whose they are. `left`: they are somebody else's from now on. `gone`: they
 * are forgotten.
 */
export type DraftEvent = 'named' | 'left' | 'gone'

/** What was typed and not sent, by conversation: kept in the browser for after a reload. */
export interface Drafts {
  /** Of who uses the chat. @returns empty: there is none */
  read(name: string): string
  /** Never rejects: a draft that cannot be kept stays in its field. */
  write(name: string, text: string): void
  /** Everybody's. */
  all(): readonly Draft[]
  /** Forgets all, and has those who show one do so, too. */
  clear(): void
  /** Tells those who show one what is about to happen. */
  tell(event: DraftEvent): void
  subscribe(listener: (event: DraftEvent) => void): void
}

/** @param by gives who uses the chat; default: nobody whose name is known */
export function storedDrafts(
  storage: ChatStorage,
  key: string,
  by: () => string | undefined = () => undefined,
): Drafts {
  const listeners: ((event: DraftEvent) => void)[] = []
  const all = (): readonly Draft[] => {
    try {
      const kept = JSON.parse(storage.getItem(key) ?? '[]')
      return Array.isArray(kept) ? (kept.filter(Array.isArray) as unknown as readonly Draft[]) : []
    } catch {
      // Somebody else's: it is written over.
      return []
    }
  }
  const isOwn = (name: string, [other, , whose]: Draft): boolean => other === name && mayBe(whose, by())
  const put = (drafts: readonly Draft[]): void => {
    try {
      if (drafts.length > 0) storage.setItem(key, JSON.stringify(drafts))
      else storage.removeItem(key)
    } catch {
      // There is no room.
    }
  }
  const draftOf = (name: string, text: string, whose = by()): Draft =>
    whose === undefined ? [name, text] : [name, text, whose]
  const tell = (event: DraftEvent): void => {
    for (const listener of listeners) listener(event)
    // What was nobody's was theirs.
    if (event === 'left') put(all().map((draft) => draftOf(...draft)))
  }
  return {
    read: (name) => all().findLast((draft) => isOwn(name, draft))?.[1] ?? '',
    write(name, text) {
      const others = all().filter((draft) => !isOwn(name, draft))
      const isKept = text.trim() !== '' && text.length <= LONGEST
      put(isKept ? [...others, draftOf(name, text)].slice(-MOST) : others)
    },
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

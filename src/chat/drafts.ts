import type { ChatStorage } from './settings.ts'

/** Of more conversations the oldest drafts go. */
const MOST = 20
/** UTF-16 units; longer ones are not kept. */
const LONGEST = 20_000

/** What was typed and not sent, by conversation: kept in the browser for after a reload. */
export interface Drafts {
  /** @returns empty: there is none */
  read(name: string): string
  /** Never rejects: a draft that cannot be kept stays in its field. */
  write(name: string, text: string): void
  /** Of all conversations that have one. */
  names(): readonly string[]
  /** Forgets all, and has those who show one do so, too. */
  clear(): void
  /** Calls the listener whenever all are forgotten. */
  subscribe(listener: () => void): void
}

export function storedDrafts(storage: ChatStorage, key: string): Drafts {
  const listeners: (() => void)[] = []
  const all = (): readonly (readonly string[])[] => {
    try {
      const kept: unknown = JSON.parse(storage.getItem(key) ?? '[]')
      return Array.isArray(kept) ? kept.filter(Array.isArray) : []
    } catch {
      // Somebody else's: it is written over.
      return []
    }
  }
  return {
    read: (name) => all().find(([other]) => other === name)?.[1] ?? '',
    write(name, text) {
      const others = all().filter(([other]) => other !== name)
      const isKept = text.trim() !== '' && text.length <= LONGEST
      const drafts = isKept ? [...others, [name, text]].slice(-MOST) : others
      try {
        if (drafts.length > 0) storage.setItem(key, JSON.stringify(drafts))
        else storage.removeItem(key)
      } catch {
        // There is no room.
      }
    },
    names: () => all().flatMap(([name]) => name ?? []),
    clear() {
      storage.removeItem(key)
      for (const listener of listeners) listener()
    },
    subscribe(listener) {
      listeners.push(listener)
    },
  }
}

/** What the built tag weighs, in bytes, gzip -9. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'

export interface TagWeight {
  /** What is loaded at each step, without what was loaded before. */
  readonly steps: Readonly<Record<string, number>>
  /** Until a conversation of this browser shows. */
  readonly firstLook: number
  /** With the memory, and what answers in the browser. */
  readonly answering: number
  /** Until a conversation of an edge shows. */
  readonly edge: number
}

/** @param folder the built tag */
export function weighTag(folder: string): TagWeight {
  const files = readdirSync(folder).filter((file) => file.endsWith('.js'))
  const textOf = (file: string): string => readFileSync(join(folder, file), 'utf8')

  /** The file, and what it imports before it runs. */
  function closure(file: string, seen: Set<string> = new Set()): Set<string> {
    if (seen.has(file)) return seen
    seen.add(file)
    for (const [, imported = ''] of textOf(file).matchAll(/(?:from|import)\s*[`"']\.\/([^`"']+)[`"']/g)) {
      closure(imported, seen)
    }
    return seen
  }

  const weigh = (names: Iterable<string>): number =>
    [...names].reduce((sum, name) => sum + gzipSync(readFileSync(join(folder, name)), { level: 9 }).length, 0)

  /** Files by the name of what they hold, without what was loaded before. */
  function chunks(...names: readonly string[]): Set<string> {
    const found = names.map((name) =>
      files.find((file) => new RegExp(`^plimsoll-${name}-[\\w-]{8}\\.js$`).test(file)),
    )
    if (found.includes(undefined)) throw new Error(`Not built: one of ${names.join(', ')}`)
    return new Set(found.flatMap((file) => (file ? [...closure(file)] : [])))
  }

  const loaded = new Set<string>()

  /** Of files, those that were not loaded before; from now on they are. */
  function weighNew(found: Iterable<string>): number {
    const fresh = [...found].filter((file) => !loaded.has(file))
    for (const file of fresh) loaded.add(file)
    return weigh(fresh)
  }

  const opened = {
    'launcher, with the page': weighNew(closure('plimsoll-chat.js')),
    'view, lit, conversations and one language, when it is opened': weighNew(chunks('opened', 'en')),
  }
  const edge = weigh([...chunks('edge')].filter((file) => !loaded.has(file)))
  const shown = { ...opened, 'sessions of this browser, when it is opened': weighNew(chunks('local')) }
  const answering = {
    ...shown,
    'memory, and what answers, a function of the page too, behind it': weighNew(chunks('memory')),
  }
  const steps = {
    ...answering,
    'where the database fails, soon after something was said': weighNew(chunks('memory-mode')),
    'list of conversations, once something was answered': weighNew(chunks('session-list', 'panel-style')),
    'what edits a message, shows versions, calls and facts, a second after the view': weighNew(
      chunks('later'),
    ),
    'Markdown, with the first message that has some': weighNew(chunks('blocks')),
    'colours, with the first code block, without its language': weighNew(chunks('core')),
    'one language of code (TypeScript)': weighNew(chunks('typescript')),
    'memory panel, when it is opened': weighNew(chunks('memory-panel', 'panels-en', 'panels-load')),
    'what forgets a message, beside the words of that panel': weighNew(chunks('forget-message')),
    'sessions of an edge, in place of those of this browser': edge,
    'those of an edge in this browser, too, beside the memory': weigh(
      [...chunks('synced')].filter((file) => !loaded.has(file)),
    ),
  }
  return { steps, firstLook: total(shown), answering: total(answering), edge: total(opened) + edge }
}

function total(steps: TagWeight['steps']): number {
  return Object.values(steps).reduce((sum, bytes) => sum + bytes, 0)
}

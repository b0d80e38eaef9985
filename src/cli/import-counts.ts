import type { TransferLine } from '../operations/transfer/format.ts'
import type { Role } from '../ports/message.ts'
import type { ForeignSession } from '../replay/foreign.ts'

interface SessionCount {
  /** Its name, and the title, as the file has them until its first line is written. */
  name: string
  title: string
  readonly roles: { [role in Role]: number }
  /** Versions of messages that are rewound. */
  older: number
  /** What it leaves out by itself. */
  readonly hidden: number
  isEmpty: boolean
}

const ROLES = ['user', 'assistant', 'tool', 'system'] as const

/** What a file of another program has, session by session. */
export class ImportCounts {
  readonly #sessions: SessionCount[] = []

  /** The same sessions; counts what they have as their lines are taken. */
  async *of(sessions: Iterable<ForeignSession>): AsyncGenerator<ForeignSession> {
    for (const session of sessions) {
      const { sessionId, title = '', hidden = 0 } = session
      const roles = { user: 0, assistant: 0, tool: 0, system: 0 }
      this.#sessions.push({ name: sessionId, title, roles, older: 0, hidden, isEmpty: true })
      yield session
    }
  }

  take(line: TransferLine): void {
    // What comes before any session is none of these.
    const current = this.#sessions.at(-1) as SessionCount
    if (line.type === 'session')
      Object.assign(current, { name: line.sessionId, title: line.title ?? '', isEmpty: false })
    if (line.type === 'message') current.roles[(line.message as { readonly role: Role }).role]++
    if (line.type === 'rewind') current.older++
  }

  /** A line a session. Names are quoted: a terminal is not to read them. */
  table(): string {
    const lines = this.#sessions.map(({ name, title, roles, older, hidden, isEmpty }) => {
      const said = ROLES.flatMap((role) => (roles[role] > 0 ? `${role} ${roles[role]}` : []))
      const all = [...said, ...(isEmpty ? ['empty'] : []), ...beside(older, hidden)]
      return `${JSON.stringify(name)} ${JSON.stringify(title)}: ${all.join(', ')}\n`
    })
    return lines.join('')
  }

  /** All of it in a few words. */
  sum(): string {
    const all = this.#sessions
    const messages = sum(all.flatMap(({ roles }) => Object.values(roles)))
    const empty = all.filter(({ isEmpty }) => isEmpty).length
    return [
      `${messages} messages of ${all.length - empty} sessions`,
      ...(empty > 0 ? [`empty sessions ${empty}`] : []),
      ...beside(sum(all.map(({ older }) => older)), sum(all.map(({ hidden }) => hidden))),
    ].join(', ')
  }
}

function beside(older: number, hidden: number): readonly string[] {
  return [
    ...(older > 0 ? [`older versions ${older}`] : []),
    ...(hidden > 0 ? [`hidden or empty there ${hidden}`] : []),
  ]
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}

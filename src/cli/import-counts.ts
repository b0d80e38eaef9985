import type { TransferLine } from '../operations/transfer/format.ts'
import type { Role } from '../ports/message.ts'
import type { ForeignSession } from '../replay/foreign.ts'

interface SessionCount {
  readonly title: string
  readonly roles: { [role in Role]: number }
  /** Versions of messages that are rewound. */
  older: number
}

const ROLES = ['user', 'assistant', 'tool', 'system'] as const

/** What a file of another program has, session by session. */
export class ImportCounts {
  readonly #sessions = new Map<string, SessionCount>()
  readonly #hidden = new Map<string, number>()
  #current: SessionCount | undefined

  /** The same sessions; notes what each of them leaves out by itself. */
  async *hidden(sessions: Iterable<ForeignSession>): AsyncGenerator<ForeignSession> {
    for (const session of sessions) {
      if (session.hidden) this.#hidden.set(session.sessionId, session.hidden)
      yield session
    }
  }

  take(line: TransferLine): void {
    if (line.type === 'session') {
      this.#current = {
        title: line.title ?? '',
        roles: { user: 0, assistant: 0, tool: 0, system: 0 },
        older: 0,
      }
      this.#sessions.set(line.sessionId, this.#current)
    }
    if (!this.#current) return
    if (line.type === 'message') this.#current.roles[(line.message as { readonly role: Role }).role]++
    if (line.type === 'rewind') this.#current.older++
  }

  /** A line a session. Names are quoted: a terminal is not to read them. */
  table(): string {
    const lines = [...this.#sessions].map(([sessionId, { title, roles, older }]) => {
      const said = ROLES.flatMap((role) => (roles[role] > 0 ? `${role} ${roles[role]}` : []))
      const more = beside(older, this.#hidden.get(sessionId) ?? 0)
      return `${JSON.stringify(sessionId)} ${JSON.stringify(title)}: ${[...said, ...more].join(', ')}\n`
    })
    return lines.join('')
  }

  /** All of it in a few words. */
  sum(): string {
    const all = [...this.#sessions.values()]
    const messages = sum(all.flatMap(({ roles }) => Object.values(roles)))
    const more = beside(sum(all.map(({ older }) => older)), sum([...this.#hidden.values()]))
    return [`${messages} messages of ${all.length} sessions`, ...more].join(', ')
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

import { partsOf } from '../kernel/log/message.ts'
import { findSession } from '../operations/sessions.ts'
import type { Message, Part } from '../ports/message.ts'
import { grouped, visible } from '../replay/words.ts'
import type { HistoryCommandOptions } from './arguments.ts'
import { loadCounter } from './counters.ts'
import { noSession, readDatabase } from './database.ts'
import type { Io } from './io.ts'

/** Messages that are read at once. */
const AT_ONCE = 512

/**
 * Prints the messages of a stored session, the oldest first. Resolves to the exit status: 1 if
 * there is no such session.
 */
export async function historyCommand(options: HistoryCommandOptions, io: Io): Promise<number> {
  const { session: sessionId, messages: most = Number.POSITIVE_INFINITY, json } = options
  const counter = await loadCounter('default', () => {})
  return readDatabase(options, { counter }, io, async (memory, user) => {
    if (!(await findSession(memory, user, sessionId))) return noSession(memory, user, sessionId, io)
    const session = memory.session({ ...user, sessionId })
    let all: readonly Message[] = []
    for (let before: string | undefined; all.length < most; before = all[0]?.id) {
      const messages = Math.min(AT_ONCE, most - all.length)
      const page = await session.history({ messages, ...(before !== undefined && { before }) })
      if (page.length === 0) break
      all = [...page, ...all]
    }
    for (const message of all) io.out(json ? `${JSON.stringify(message)}\n` : textOf(message))
    return 0
  })
}

function textOf(message: Message): string {
  const { role, name, createdAt, trust } = message
  const who = [
    role,
    ...(name === undefined ? [] : [visible(name)]),
    ...(trust === role ? [] : [`trust ${trust}`]),
  ]
  const said = partsOf(message).map(partText).join('\n')
  return `${new Date(createdAt).toISOString()} ${who.join(', ')}\n${said.replaceAll(/^/gm, '  ')}\n\n`
}

function partText(part: Part): string {
  switch (part.type) {
    case 'text':
      return shown(part.text)
    case 'tool-call':
      return `calls ${visible(part.name)} ${visible(JSON.stringify(part.input))}`
    case 'tool-result':
      return `result ${typeof part.output === 'string' ? shown(part.output) : visible(JSON.stringify(part.output))}`
    case 'media':
      return `(${visible(part.name === undefined ? part.mediaType : `${part.mediaType} ${part.name}`)})`
    default:
      return `(${part.type}, ${grouped(JSON.stringify(part).length)} characters)`
  }
}

/** Lines stay lines; what a terminal would obey does not. */
function shown(text: string): string {
  return text.split('\n').map(visible).join('\n')
}

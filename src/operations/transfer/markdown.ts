import { dateOf } from '../../features/recall/question.ts'
import type { Fact } from '../../ports/fact.ts'
import type { Json, Message, Part } from '../../ports/message.ts'
import type { Mark } from '../../ports/op.ts'
import type { MarkLine, MessageLine, RegisterLine, TransferLine } from './format.ts'

/** What a line is read with. */
export interface Reading {
  /** Ids of the session that a rewind hides. */
  readonly hidden: ReadonlySet<string>
  /** What a register is called. */
  readonly nameOf: (key: string) => string
}

/**
 * A line of an export as Markdown, for reading; empty where there is nothing to read. Messages that
 * a rewind hides and those that were forgotten are named as such. What somebody wrote is quoted, so
 * that none of it looks like a heading.
 */
export function markdownOf(line: TransferLine, { hidden, nameOf }: Reading): string {
  switch (line.type) {
    case 'user':
      return '# Memory\n'
    case 'session': {
      const { title, sessionId } = line
      return `\n# Session ${inline(title || sessionId)}\n${title ? `\nId: ${inline(sessionId)}\n` : ''}`
    }
    case 'message':
      return messageText(line, hidden.has(line.id))
    case 'summary':
      return summaryText(line)
    case 'register':
      return registerText(line, nameOf(line.key))
    default:
      return ''
  }
}

function messageText({ id, message }: MessageLine, isHidden: boolean): string {
  if (message === undefined) return `\n## (forgotten)\n\nId: ${inline(id)}\n`
  const { role, name, createdAt, trust, content } = message as unknown as Omit<Message, 'id'>
  const notes = [
    ...(name === undefined ? [] : [inline(name)]),
    timeText(createdAt),
    ...(trust === role ? [] : [`trust ${trust}`]),
    ...(isHidden ? ['taken back'] : []),
  ]
  const parts = typeof content === 'string' ? [quoted(content)] : content.map(partText)
  return `\n## ${role} (${notes.join(', ')})\n\n${parts.join('\n')}`
}

/**
 * A time in UTC as ISO 8601 writes it, to the minute; what lies outside of four-digit years as it
 * is.
 */
function timeText(time: number): string {
  const minutes = Math.floor(time / 60_000)
  const day = Math.floor(minutes / 1_440)
  const [year = 0, month = 0, date = 0] = dateOf(day)
  if (year < 0 || year > 9_999) return String(time)
  const ofDay = minutes - day * 1_440
  const two = (value: number): string => String(value).padStart(2, '0')
  const written = `${String(year).padStart(4, '0')}-${two(month + 1)}-${two(date)}`
  return `${written} ${two(Math.floor(ofDay / 60))}:${two(ofDay % 60)} UTC`
}

function partText(part: Part): string {
  switch (part.type) {
    case 'text':
      return quoted(part.text)
    case 'reasoning':
      return `Reasoning:\n\n${quoted(part.text)}`
    case 'tool-call':
      return `Calls ${inline(part.name)}:\n\n${json(part.input)}`
    case 'tool-result':
      return `${part.isError ? 'Fails' : 'Result'}:\n\n${
        typeof part.output === 'string' ? quoted(part.output) : json(part.output)
      }`
    case 'media':
      return `(${inline(part.mediaType)}: ${inline(part.name ?? part.ref ?? part.url ?? '')})\n`
    case 'opaque':
      return `(for ${inline(part.provider)} only)\n`
  }
}

function summaryText({ mark }: MarkLine): string {
  const summary = mark as unknown as Extract<Mark, { readonly type: 'summary' }> | undefined
  if (!summary) return '\n## (forgotten summary)\n'
  return `\n## Summary of ${summary.of} earlier messages (by ${inline(summary.by)})\n\n${quoted(summary.text)}`
}

function registerText({ key, value }: RegisterLine, name: string): string {
  if (value === undefined || value === null) return ''
  const text = (value as { readonly text?: Json }).text
  if (key.startsWith('fact/')) {
    const { kind, trust, pinned, status, supersededBy, text } = value as unknown as Fact
    const notes = [
      trust,
      ...(pinned ? ['pinned'] : []),
      ...(status === undefined ? [] : [status]),
      ...(supersededBy === undefined ? [] : ['superseded']),
    ]
    return `\n## Fact: ${kind} (${notes.join(', ')})\n\n${quoted(text)}`
  }
  if (key.startsWith('profile/')) return `\n## Document ${inline(name)}\n\n${quoted(String(text))}`
  if (key.startsWith('skill-text/')) return `\n## Skill ${inline(name)}\n\n${quoted(String(text))}`
  if (key === 'checkpoint') return `\n## Checkpoint\n\n${json(value)}`
  if (key === 'settings') return `\n## Settings\n\n${json(value)}`
  return ''
}

/** A block quote; every end of a line that a reader may know begins a new one. */
function quoted(text: string): string {
  return `${text
    .split(/\r\n|[\n\r\u2028\u2029]/)
    .map((line) => `> ${line}`.trimEnd())
    .join('\n')}\n`
}

function json(value: Json): string {
  return quoted(JSON.stringify(value, null, 2))
}

/** A text inside of a line. */
function inline(text: string): string {
  return text.replace(/\s+/g, ' ').replace(/[\\`*_[\]<>#|]/g, '\\$&')
}

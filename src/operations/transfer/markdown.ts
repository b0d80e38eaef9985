import { hiddenBy } from '../../kernel/log/fold.ts'
import { readRewinds } from '../../kernel/log/history.ts'
import type { Fact } from '../../ports/fact.ts'
import type { Json, Message, Part } from '../../ports/message.ts'
import type { Mark } from '../../ports/op.ts'
import type { ScopeStore } from '../../ports/store.ts'
import type { MarkLine, MessageLine, RegisterLine, TransferLine } from './format.ts'

/**
 * The same as Markdown, for reading: messages in their order, those that a rewind hides and those that were forgotten named as such, then
 * what is remembered. What somebody wrote is quoted, so that none of it looks like a heading.
 *
 * @param open opens a session of the user, for its rewinds
 * @param nameOf what a register is called
 */
export async function* markdownOf(
  lines: AsyncIterable<TransferLine>,
  open: (sessionId: string) => ScopeStore,
  nameOf: (key: string) => string,
): AsyncGenerator<string, void, undefined> {
  let hidden: ReadonlySet<string> = new Set()
  for await (const line of lines) {
    switch (line.type) {
      case 'user':
        yield '# Memory\n'
        break
      case 'session': {
        const scope = open(line.sessionId)
        hidden = hiddenBy(await readRewinds(scope))
        await scope.close()
        yield `\n# Session ${inline(line.title || line.sessionId)}\n`
        if (line.title) yield `\nId: ${inline(line.sessionId)}\n`
        break
      }
      case 'message':
        yield messageText(line, hidden.has(line.id))
        break
      case 'summary':
        yield summaryText(line)
        break
      case 'register':
        yield registerText(line, nameOf(line.key))
        break
      default:
    }
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

/** A time in UTC as ISO 8601 writes it, to the minute; what lies outside of four-digit years as it is. */
function timeText(time: number): string {
  const minutes = Math.floor(time / 60_000)
  const days = Math.floor(minutes / 1_440)
  // Howard Hinnant, "chrono-compatible low-level date algorithms", civil_from_days: years begin in March.
  const shifted = days + 719_468
  const era = Math.floor(shifted / 146_097)
  const ofEra = shifted - era * 146_097
  const yearOfEra = Math.floor(
    (ofEra - Math.floor(ofEra / 1_460) + Math.floor(ofEra / 36_524) - Math.floor(ofEra / 146_096)) / 365,
  )
  const ofYear = ofEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100))
  const place = Math.floor((5 * ofYear + 2) / 153)
  const day = ofYear - Math.floor((153 * place + 2) / 5) + 1
  const month = place < 10 ? place + 3 : place - 9
  const year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
  if (year < 0 || year > 9_999) return String(time)
  const ofDay = minutes - days * 1_440
  const two = (value: number): string => String(value).padStart(2, '0')
  const date = `${String(year).padStart(4, '0')}-${two(month)}-${two(day)}`
  return `${date} ${two(Math.floor(ofDay / 60))}:${two(ofDay % 60)} UTC`
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
      return `(${inline(part.mediaType)}: ${inline(part.ref ?? part.url ?? '')})\n`
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

import { isRecord } from '../../ports/is-record.ts'
import type { Shown } from './shown.ts'

/** A call of a tool, its result or its error, or what was said beside them. */
export type ToolStep =
  | {
      readonly kind: 'call' | 'result' | 'error'
      readonly id: string
      readonly tool: string
      readonly value: unknown
    }
  | { readonly kind: 'text'; readonly value: string }

/** Read once a request: what shows it is drawn again and again. */
const read = new WeakMap<Shown, readonly (readonly ToolStep[])[]>()

/** Of each stretch of a request: what tools were given and gave in it. Empty: no tool is in it. */
export function toolSteps(shown: Shown): readonly (readonly ToolStep[])[] {
  const found = read.get(shown) ?? stepsIn(shown)
  read.set(shown, found)
  return found
}

function stepsIn({ text, stretches }: Shown): readonly (readonly ToolStep[])[] {
  const all = stretches.map(({ from, to }) => {
    const stretch = text.slice(from, to)
    // As all formats name them; most stretches have none and are not read.
    if (!stretch.includes('"tool_')) return []
    const steps = objectsIn(stretch).flatMap(stepsOf)
    return steps.every(({ kind }) => kind === 'text') ? [] : steps
  })
  // A result names its call alone.
  const names = new Map(all.flat().flatMap((step) => (step.kind === 'call' ? [[step.id, step.tool]] : [])))
  return all.map((steps) =>
    steps.map((step) =>
      step.kind === 'result' || step.kind === 'error'
        ? { ...step, tool: names.get(step.id) ?? step.id }
        : step,
    ),
  )
}

/** The outermost objects that are whole in a stretch, which begins and ends between two values. */
function objectsIn(stretch: string): readonly unknown[] {
  const open: number[] = []
  const found: { readonly from: number; readonly to: number }[] = []
  for (const { 0: token, index } of stretch.matchAll(/"[^"\\]*(?:\\.[^"\\]*)*"|[{}]/g)) {
    if (token === '{') open.push(index)
    const from = token === '}' ? open.pop() : undefined
    if (from === undefined) continue
    while ((found.at(-1)?.from ?? -1) > from) found.pop()
    found.push({ from, to: index + 1 })
  }
  return found.map(({ from, to }) => JSON.parse(stretch.slice(from, to)))
}

/** Of a message or a part of one, as either provider is given it. */
function stepsOf(value: unknown): readonly ToolStep[] {
  if (!isRecord(value)) return []
  const { role, type, id, name, input, content } = value
  if (type === 'text') return textStep(value.text)
  if (type === 'tool_use') return [{ kind: 'call', id: String(id), tool: String(name), value: input }]
  if (type === 'tool_result' || role === 'tool') {
    const of = String(value.tool_use_id ?? value.tool_call_id)
    const kind = value.is_error === true ? 'error' : 'result'
    return [{ kind, id: of, tool: of, value: dataOf(textOf(content)) }]
  }
  if (type === 'function' && isRecord(value.function)) {
    const { name: tool, arguments: given } = value.function
    return [{ kind: 'call', id: String(id), tool: String(tool), value: dataOf(given) }]
  }
  const parts = [content, value.messages, value.tool_calls].filter(Array.isArray)
  return [...textStep(content), ...parts.flat().flatMap(stepsOf)]
}

function textStep(text: unknown): readonly ToolStep[] {
  return typeof text === 'string' && text !== '' ? [{ kind: 'text', value: text }] : []
}

/** A result's text, where it has nothing but text. */
function textOf(content: unknown): unknown {
  if (!Array.isArray(content) || !content.every((part) => isRecord(part) && part.type === 'text'))
    return content
  return content.map(({ text }) => text).join('\n')
}

/** What a text says as JSON, if it is an object or a list in which no name stands twice. */
function dataOf(text: unknown): unknown {
  if (typeof text !== 'string' || !/^\s*[[{]/.test(text)) return text
  // Where the middle of a long one was cut out, a line says so, mostly inside of a string.
  for (const json of [text, text.replaceAll('\n', '\\n')])
    try {
      let members = 0
      const data = JSON.parse(
        json,
        function (this: unknown, _key: string, value: unknown, written?: Written) {
          // The whole is the member of an object, too.
          if (!Array.isArray(this)) members++
          return exact(value, written)
        },
      )
      // Of two with one name, the model read both, and only the last is among the members.
      return members - 1 === namesIn(json) ? data : text
    } catch {}
  return text
}

function namesIn(json: string): number {
  const strings = [...json.matchAll(/"[^"\\]*(?:\\.[^"\\]*)*"\s*(:?)/g)]
  return strings.filter(({ 1: colon }) => colon).length
}

/** What browsers tell of a value that they read. */
interface Written {
  readonly source?: string
}

/** Numbers as they are written, where the browser tells: large ones would be rounded. */
function exact(value: unknown, { source }: Written = {}): unknown {
  return typeof value === 'number' && source !== undefined ? source : value
}

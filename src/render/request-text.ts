import { isSame } from '../kernel/context/keeper.ts'
import { keptOf } from '../kernel/context/kept.ts'
import { asText } from '../kernel/count.ts'
import type { Block, Context, SectionName } from '../ports/context.ts'
import type { Part } from '../ports/message.ts'
import { checkObject, invalid } from '../text/json.ts'
import { checkBuilt } from './check-built.ts'
import { type Grown, grownText } from './grown-text.ts'

/** A renderer, whose request has a list of items, block after block. */
export interface Rendering {
  /** The function that was called. */
  readonly operation: string
  /** Names the renderer with those of its options that say what a block becomes. */
  readonly by: string
  /** Key of the list. */
  readonly list: 'messages' | 'input'
  /** Whether what a block becomes never depends on those after it: no marks, no shared messages. */
  readonly isPlain: boolean
  readonly render: (context: Context) => object
  /** The same without marks. */
  readonly renderPlain: (context: Context) => object
}

type Request = { readonly [field: string]: unknown }

/** What comes before the window: fields, and the first items of the list. */
interface Opening {
  readonly of: readonly unknown[]
  readonly names: readonly string[]
  readonly fields: string
  readonly items: string
}

/** What was written last, of one renderer with its options. */
interface Written {
  opening?: Opening
  window?: Grown
}

/** In the order of a request. */
const PLACES: { readonly [section in SectionName]: number } = { system: 0, memory: 1, window: 2, tail: 3 }

/**
 * `JSON.stringify({ ...body, ...render(context) })`, of which only the end is rendered and written:
 * as far as no mark will be set any more, the text is kept.
 *
 * @throws ERR_INVALID_ARGUMENT: `body` has a field of the renderer's, or a `toJSON`
 */
export function requestText(context: Context, body: object, rendering: Rendering): string {
  const { operation, by, list, isPlain, render, renderPlain } = rendering
  checkBuilt(operation, context)
  const fields = checkObject(operation, 'body', body)
  // Its own JSON would come in place of its fields.
  if (typeof fields.toJSON === 'function') throw invalid(operation, 'body.toJSON', 'must not be a function')
  const { blocks, fence } = context
  const part = (some: readonly Block[]) => ({ ...context, blocks: some, tools: [] })
  const start = startOf(blocks)
  const end = isPlain ? blocks.findLastIndex(({ section }) => section !== 'tail') + 1 : markedFrom(blocks)
  const settled = blocks.slice(start, Math.max(start, end))
  // A text lives no longer than what it was written of may show.
  const made = keptOf.get(blocks)?.made
  const kept: Written = made?.get(by) ?? {}
  const opening = openingOf(kept.opening, { ...context, blocks: blocks.slice(0, start) }, rendering)
  const window = grownText(kept.window, settled, fence, (step) => itemsIn(renderPlain(part(step)), list))
  made?.set(by, { opening, window })
  const closing = render(part(blocks.slice(start + settled.length)))
  const names = [...opening.names, ...Object.keys(closing)]
  const taken = Object.keys(fields).find((field) => names.includes(field))
  if (taken !== undefined) throw invalid(operation, `body.${taken}`, 'is given by the context')
  const [first = '', ...others] = [opening.items, window.text, itemsIn(closing, list)].filter((text) => text)
  const items = others.reduce((text, more) => text + more, first.slice(1))
  const own = JSON.stringify(body).slice(0, -1)
  const further = Object.entries(closing).filter(([field]) => field !== list)
  const after = further.map(([field, value]) => `,${fieldOf(field, value)}`).join('')
  return `${own}${own === '{' ? '' : ','}${opening.fields}"${list}":[${items}]${after}}`
}

function openingOf(before: Opening | undefined, context: Context, { list, render }: Rendering): Opening {
  const of = [context.tools, ...context.blocks]
  if (before && isSame(before.of, of)) return before
  const request = render(context) as Request
  const fields = Object.entries(request).slice(0, Object.keys(request).indexOf(list))
  return {
    of,
    names: fields.map(([field]) => field),
    fields: fields.map(([field, value]) => `${fieldOf(field, value)},`).join(''),
    items: itemsIn(request, list),
  }
}

/** Index of the first block of the window. Of a list in another order, all comes before it. */
function startOf(blocks: readonly Block[]): number {
  let start = 0
  let last = 0
  for (const { section } of blocks) {
    const place = PLACES[section]
    if (place < last) return blocks.length
    last = place
    if (place < PLACES.window) start++
  }
  return start
}

/**
 * Index of a block before which no mark stands but in the opening. Two are set further on: at the
 * end, and before the newest reply; each of them moves forward to the next part that can carry one
 * at most as far back as to what was surely said there.
 */
function markedFrom(blocks: readonly Block[]): number {
  const replied = blocks.findLastIndex(({ role, parts }) => role === 'assistant' && parts.some(isSaid))
  const asked = blocks.findLastIndex(
    ({ role, parts }, index) => index < replied && (role === 'user' || role === 'tool') && parts.some(isSaid),
  )
  // The results of a step may share a message.
  return blocks[asked]?.role === 'tool'
    ? blocks.findLastIndex(({ role }, index) => index < asked && role !== 'tool')
    : asked
}

/** Whether each renderer shows a part, which can carry a mark where it is not the assistant's. */
function isSaid(part: Part): boolean {
  if (part.type === 'tool-result') return /\S/.test(asText(part.output))
  return part.type === 'tool-call' || (part.type === 'text' && /\S/.test(part.text))
}

/** Each after a comma. */
function itemsIn(request: object, list: string): string {
  const items = (request as Request)[list] as readonly object[]
  return items.map((item) => `,${JSON.stringify(item)}`).join('')
}

function fieldOf(field: string, value: unknown): string {
  return `${JSON.stringify(field)}:${JSON.stringify(value)}`
}

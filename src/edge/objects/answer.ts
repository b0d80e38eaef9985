import type { Block, Context } from '../../ports/context.ts'
import type { Limit } from '../rows/token-buckets.ts'
import { toWire } from '../wire.ts'

/** What an object answers a call with: JSON text crosses to the Worker faster than objects do. */
export interface Answer {
  /** The body, as it goes to the client; empty: there is none. */
  readonly json: string
  /** Version of what was read or written, for the header `ETag`; absent: it has none. */
  readonly etag?: string
  /** Default: that of its route. */
  readonly status?: 200 | 201
  /** Of a context, for the log of requests. */
  readonly account?: ContextAccount
  /** What is left of the budgets that it was taken of. */
  readonly limits?: readonly Limit[]
}

/** What a context took. */
export interface ContextAccount {
  readonly tokens: number
  readonly epoch: string
}

export const NOTHING: Answer = { json: '' }

/** An answer as it crosses to the Worker: one text, which takes less than an object does. */
export function packed({ json, ...about }: Answer): string {
  return `${JSON.stringify(about)}\n${json}`
}

export function unpacked(text: string): Answer {
  const end = text.indexOf('\n')
  return { ...(JSON.parse(text.slice(0, end)) as Omit<Answer, 'json'>), json: text.slice(end + 1) }
}

/** A value of the library's as an answer. */
export function answer(value: unknown, etag?: string | null): Answer {
  return { json: JSON.stringify(toWire(value)), ...(typeof etag === 'string' && { etag }) }
}

const texts = new WeakMap<Block, string>()

/** A context as an answer. Blocks stay the same objects from call to call, and are written once. */
export function contextAnswer({ blocks, ...rest }: Context): Answer {
  const fields = JSON.stringify(toWire(rest))
  return {
    json: `${fields.slice(0, -1)},"blocks":[${blocks.map(textOf).join()}]}`,
    account: { tokens: rest.receipt.used, epoch: rest.epoch },
  }
}

function textOf(block: Block): string {
  let text = texts.get(block)
  if (text === undefined) {
    text = JSON.stringify(toWire(block))
    texts.set(block, text)
  }
  return text
}

import type { Block, Context } from '../ports/context.ts'
import { checkBuilt } from './check-built.ts'

const texts = new WeakMap<Block, string>()

/**
 * A context as JSON, byte for byte what `JSON.stringify` makes of it, for sending one to where the
 * request is made. Blocks stay the same objects from call to call of a session, and those that were
 * written before are not written again, only joined.
 *
 * @throws ERR_INVALID_ARGUMENT: it is no context
 */
export function stringifyContext(context: Context): string {
  checkBuilt('stringifyContext', context)
  const fields = Object.entries(context).flatMap(([key, value]) => {
    const json = key === 'blocks' ? `[${context.blocks.map(textOf).join()}]` : JSON.stringify(value)
    return json === undefined ? [] : `${JSON.stringify(key)}:${json}`
  })
  return `{${fields.join()}}`
}

function textOf(block: Block): string {
  let text = texts.get(block)
  if (text === undefined) {
    text = JSON.stringify(block)
    texts.set(block, text)
  }
  return text
}

import { checkTools } from '../../kernel/context/head.ts'
import { checkLabel } from '../../kernel/log/check-message.ts'
import { checkJson } from '../../text/check-json.ts'
import { type Check, optional } from '../../text/fields.ts'
import { checkCount, checkText, invalid, isPlainObject } from '../../text/json.ts'
import { checkName, list, names, object, oneOf, texts } from './checks.ts'

const overflow = object({ count: checkCount, tokens: checkCount, first: texts })
const use = object({
  name: checkText,
  cap: optional(checkCount),
  tokens: checkCount,
  items: checkCount,
  overflow,
})
const part = object({
  sections: list(
    object({
      in: oneOf('system', 'memory'),
      at: checkCount,
      name: checkText,
      text: checkText,
      trust: checkLabel,
      use: optional(use),
    }),
  ),
  record: optional(checkJson),
  sources: names,
  ids: optional(texts),
})
const parts: Check = (operation, argument, value) => {
  if (!isPlainObject(value)) throw invalid(operation, argument, 'must be an object')
  for (const [name, one] of Object.entries(value)) part(operation, `${argument}.${name}`, one)
}
/** Tools are kept as their JSON. */
const tools: Check = (operation, argument, value) => {
  const text = checkText(operation, argument, value)
  if (text === '') return
  let specs: unknown
  try {
    specs = JSON.parse(text)
  } catch {
    throw invalid(operation, argument, 'must be JSON')
  }
  checkTools(operation, 'tools', specs)
}
const head = object({
  system: checkText,
  memory: checkText,
  tools,
  trust: optional(checkLabel),
  summary: optional(checkName),
  parts: optional(parts),
})

/** The value of a register `head/<hash>`, as contexts read it. @throws ERR_INVALID_ARGUMENT */
export function checkHead(operation: string, value: unknown): void {
  head(operation, 'value', value)
}

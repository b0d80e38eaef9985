import type { ToolSpec } from '../../ports/message.ts'
import { checkLabel } from '../check-message.ts'
import { checkTools } from '../head.ts'
import { checkCount, checkText, invalid } from '../json.ts'
import { type Check, checkName, ids, list, object, optional, texts } from './checks.ts'

const overflow = object({ count: checkCount, tokens: checkCount, first: texts })
const uses = list(
  object({ name: checkText, cap: optional(checkCount), tokens: checkCount, items: checkCount, overflow }),
)
const pair: Check = (operation, argument, value) => {
  texts(operation, argument, value)
  if ((value as readonly string[]).length !== 2)
    throw invalid(operation, argument, 'must be a name and a hash')
}
const remembered = object({
  system: checkText,
  memory: list(object({ name: checkText, text: checkText, trust: checkLabel })),
  project: optional(checkText),
  documents: checkText,
  facts: list(pair),
  sources: ids,
  asOf: object({ user: checkCount, session: checkCount }),
  uses,
})
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
  checkTools(operation, specs as readonly ToolSpec[])
}
const head = object({
  system: checkText,
  memory: checkText,
  tools,
  trust: optional(checkLabel),
  summary: optional(checkName),
  remembered: optional(remembered),
})

/** The value of a register `head/<hash>`, as contexts read it. @throws ERR_INVALID_ARGUMENT */
export function checkHead(operation: string, value: unknown): void {
  head(operation, 'value', value)
}

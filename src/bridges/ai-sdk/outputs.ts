/** Results of calls: the SDK's tagged outputs as one JSON value each, and back. */
import { isRecord } from '../../ports/is-record.ts'
import type { Json, ToolResultPart } from '../../ports/message.ts'
import { jsonOf, shallow } from './opaque.ts'
import type { ResultOutput } from './types.ts'

/** What a model reads of a call that a person did not allow, as in the SDK's own conversion. */
export const DENIED = 'Tool call execution denied.'

/** Marks content with pictures or files; a result that was cut is text, and goes without them. */
const CONTENT = 'ai-sdk/content'

/** Whether a result is an error, and what it says. */
export function fromOutput(callId: string, output: ResultOutput): ToolResultPart {
  switch (output.type) {
    case 'text':
      return { type: 'tool-result', callId, output: output.value }
    case 'json':
      return { type: 'tool-result', callId, output: shallow(jsonOf(output.value)).value }
    case 'error-text':
      return { type: 'tool-result', callId, output: output.value, isError: true }
    case 'error-json':
      return { type: 'tool-result', callId, output: shallow(jsonOf(output.value)).value, isError: true }
    case 'execution-denied':
      return { type: 'tool-result', callId, output: output.reason ?? DENIED, isError: true }
    case 'content': {
      const { value } = output
      const texts = value.flatMap((part) => (part.type === 'text' ? part.text : []))
      const onlyTexts = texts.length === value.length
      return {
        type: 'tool-result',
        callId,
        output: onlyTexts ? texts.join('\n') : { [CONTENT]: shallow(jsonOf(value)).value },
      }
    }
  }
}

export function toOutput({ output, isError = false }: ToolResultPart): ResultOutput {
  if (typeof output === 'string') return { type: isError ? 'error-text' : 'text', value: output }
  const content = isRecord(output) ? output[CONTENT] : undefined
  if (Array.isArray(content) && !isError) {
    return { type: 'content', value: content.map(revived) as never }
  }
  return { type: isError ? 'error-json' : 'json', value: output as never }
}

/** Addresses are objects for the SDK. */
function revived(part: Json): unknown {
  if (!isRecord(part) || !isRecord(part.data) || part.data.type !== 'url') return part
  const url = addressOf(String(part.data.url))
  return url ? { ...part, data: { type: 'url', url } } : { type: 'text', text: '[file]' }
}

export function addressOf(text: string): URL | undefined {
  return URL.canParse(text) ? new URL(text) : undefined
}

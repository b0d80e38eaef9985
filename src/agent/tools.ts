import { checkTools } from '../kernel/context/head.ts'
import type { Json, ToolSpec } from '../ports/message.ts'
import { checkJson } from '../text/check-json.ts'
import { checkFunction, checkList, checkOneOf } from '../text/check-value.ts'
import { invalid, isPlainObject } from '../text/json.ts'
import { headOf } from '../text/text.ts'
import type { AgentTool } from './options.ts'
import { createSchema, type InputSchema, type LoadValidator } from './schema.ts'
import { checkMs } from './within.ts'

/** Most UTF-16 units of an error's text that a model is given. */
const LONGEST_ERROR = 2_000

/** The tools of a run, ready for use. */
export interface Toolbox {
  /** As the model sees them. */
  readonly specs: readonly ToolSpec[]
  readonly tools: ReadonlyMap<string, Ready>
}

interface Ready {
  readonly tool: AgentTool
  readonly schema: InputSchema
}

/** @throws ERR_INVALID_ARGUMENT */
export async function createToolbox(tools: readonly AgentTool[], load: LoadValidator): Promise<Toolbox> {
  checkList('runAgent', 'tools', tools)
  const ready: (Ready & { readonly spec: ToolSpec })[] = []
  for (const [index, tool] of (tools as readonly AgentTool[]).entries()) {
    const argument = `tools[${index}]`
    if (typeof tool !== 'object' || tool === null) throw invalid('runAgent', argument, 'must be an object')
    checkFunction('runAgent', `${argument}.execute`, tool.execute)
    if (tool.trust !== undefined) checkOneOf('runAgent', `${argument}.trust`, tool.trust, ['tool', 'web'])
    checkMs(`${argument}.timeoutMs`, tool.timeoutMs)
    const { name, description, inputSchema, jsonSchema } = tool
    const schema = await createSchema(`${argument}.inputSchema`, inputSchema, jsonSchema, load)
    const inputs = { inputSchema: schema.json }
    ready.push({ tool, schema, spec: { name, ...(description !== undefined && { description }), ...inputs } })
  }
  const specs = ready.map(({ spec }) => spec)
  checkTools('runAgent', 'tools', specs)
  return { specs, tools: new Map(ready.map(({ tool, schema }) => [tool.name, { tool, schema }])) }
}

/** What a tool gave, as JSON. @throws where it is none */
export function toJson(output: unknown): Json {
  if (output === undefined) return null
  const text = JSON.stringify(output)
  if (text === undefined) throw new TypeError(`a ${typeof output} is no JSON`)
  return checkJson('runAgent', 'output', JSON.parse(text))
}

/** An error as a model reads it: its name and message, well-formed and not endless. */
export function errorText(error: unknown): string {
  const text = describe(error).replace(/\p{Surrogate}/gu, '\ufffd')
  return text.length <= LONGEST_ERROR ? text : `${headOf(text, LONGEST_ERROR)} …`
}

function describe(error: unknown): string {
  try {
    if (error instanceof Error || (isPlainObject(error) && typeof error.message === 'string'))
      return `${String(error.name ?? 'Error')}: ${String(error.message)}`
    return `Error: ${String(error)}`
  } catch {
    return 'Error: it cannot be described'
  }
}

import { asSchema, jsonSchema, type ToolSet } from 'ai'
import { isRecord } from '../../ports/is-record.ts'
import type { Json, ToolSpec } from '../../ports/message.ts'
import { invalid } from '../../text/json.ts'
import { jsonOf } from './opaque.ts'
import type { CallOptions } from './types.ts'

/** A tool as an app writes it for Plimsoll. */
export interface ExecutableTool extends ToolSpec {
  /**
   * Contract: resolves to JSON, or rejects with what went wrong. Without it, the app answers the
   * calls itself.
   */
  execute?(
    input: never,
    options: { readonly toolCallId: string; readonly abortSignal?: AbortSignal },
  ): unknown
}

/**
 * The tools that a budget counts, from those that the SDK is given, in their order. Schemas of
 * every kind that the SDK takes become JSON Schema by the SDK's own rules. Descriptions that depend
 * on a context count as none; a tool that the provider runs counts by its name, id and arguments.
 */
export async function toToolSpecs(tools: ToolSet = {}): Promise<ToolSpec[]> {
  return Promise.all(
    Object.entries(tools).map(async ([name, tool]): Promise<ToolSpec> => {
      if (!isRecord(tool)) throw invalid('tools', name, 'must be a tool')
      if (tool.type === 'provider') return providerTool(name, tool.id, tool.args)
      const { description } = tool
      const schema = jsonOf(await asSchema(tool.inputSchema).jsonSchema) as ToolSpec['inputSchema']
      return { name, ...(typeof description === 'string' && { description }), inputSchema: schema }
    }),
  )
}

/** The same, from the tools of one call to a language model. */
export function specsOf(tools: CallOptions['tools'] = []): ToolSpec[] {
  return tools.map((tool): ToolSpec => {
    if (tool.type === 'provider') return providerTool(tool.name, tool.id, tool.args)
    const { name, description, inputSchema } = tool
    const schema = jsonOf(inputSchema) as ToolSpec['inputSchema']
    return { name, ...(description !== undefined && { description }), inputSchema: schema }
  })
}

function providerTool(name: string, id: string, args: unknown): ToolSpec {
  return { name, description: id, inputSchema: { type: 'object', default: jsonOf(args ?? null) as Json } }
}

/**
 * Tools as the SDK takes them. Their schemas are given to the model and not checked against:
 * `execute` is given what the model sent.
 *
 * @example
 * ```ts
 * import { streamText } from 'ai'
 * import { toToolSet } from 'plimsoll/ai-sdk'
 *
 * const result = streamText({ model, prompt, tools: toToolSet([searchOrders]) })
 * ```
 */
export function toToolSet(tools: readonly ExecutableTool[]): ToolSet {
  return Object.fromEntries(
    tools.map((tool) => {
      const { name, description, inputSchema, execute } = tool
      const set = {
        ...(description !== undefined && { description }),
        inputSchema: jsonSchema(inputSchema as Parameters<typeof jsonSchema>[0]),
        ...(execute && { execute: (input: never, options: never) => execute.call(tool, input, options) }),
      }
      return [name, set as ToolSet[string]]
    }),
  )
}

import type { Block } from '../ports/context.ts'
import type { Json, ToolSpec } from '../ports/message.ts'
import { countMessage, countTools, perRequest } from './count.ts'
import { hashJson } from './hash.ts'
import { checkId, checkJson, checkText, invalid, isPlainObject } from './json.ts'
import type { Policy } from './policy.ts'

/** What the register `head/<hash>` holds. */
export interface HeadTexts {
  readonly system: string
  readonly memory: string
  /** JSON of the tools as they were given, so that their bytes can be rebuilt; empty without tools. */
  readonly tools: string
}

/** What a request begins with, and what stays the same for a whole epoch: system text, memory text and tools. */
export interface Head extends HeadTexts {
  /** Hash of the texts. */
  readonly hash: string
  readonly toolSpecs?: readonly ToolSpec[]
  readonly blocks: readonly Block[]
  readonly tokens: {
    readonly system: number
    readonly memory: number
    readonly tools: number
    readonly framing: number
  }
}

export function createHead(policy: Policy, { system, memory, tools }: HeadTexts): Head {
  const { counter } = policy
  const toolSpecs = tools === '' ? undefined : (JSON.parse(tools) as readonly ToolSpec[])
  const blocks: Block[] = []
  const block = (section: 'system' | 'memory', text: string): number => {
    if (text === '') return 0
    const tokens = countMessage(counter, { content: text })
    const role = section === 'system' ? 'system' : 'user'
    blocks.push({
      section,
      role,
      parts: [{ type: 'text', text }],
      from: [],
      rule: section,
      tokens,
      trust: 'system',
    })
    return tokens
  }
  return {
    system,
    memory,
    tools,
    ...(toolSpecs && { toolSpecs }),
    hash: hashJson({ system, memory, tools }),
    tokens: {
      system: block('system', system),
      memory: block('memory', memory),
      tools: countTools(counter, toolSpecs),
      framing: perRequest(counter),
    },
    blocks,
  }
}

/** The value of the register `head/<hash>`. */
export function headValue({ system, memory, tools }: Head): Json {
  return { system, memory, tools }
}

export function headKey(hash: string): string {
  return `head/${hash}`
}

/** Checks tools as an app hands them over. @throws ERR_INVALID_ARGUMENT */
export function checkTools(operation: string, tools: readonly ToolSpec[] | undefined): void {
  if (tools === undefined) return
  if (!Array.isArray(tools)) throw invalid(operation, 'tools', 'must be a list')
  const names = new Set<string>()
  tools.forEach((tool: ToolSpec, index) => {
    const argument = `tools[${index}]`
    if (!isPlainObject(tool)) throw invalid(operation, argument, 'must be an object')
    checkId(operation, `${argument}.name`, tool.name)
    if (names.has(tool.name)) throw invalid(operation, `${argument}.name`, `repeats ${tool.name}`)
    names.add(tool.name)
    if (tool.description !== undefined) checkText(operation, `${argument}.description`, tool.description)
    if (!isPlainObject(tool.inputSchema))
      throw invalid(operation, `${argument}.inputSchema`, 'must be an object')
    checkJson(operation, `${argument}.inputSchema`, tool.inputSchema)
  })
}

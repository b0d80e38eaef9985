import type { Block } from '../../ports/context.ts'
import { defined } from '../../ports/defined.ts'
import type { Json, ToolSpec, Trust } from '../../ports/message.ts'
import type { Name } from '../../ports/op.ts'
import type { Reads } from '../../ports/store.ts'
import { checkJsonObject } from '../../text/check-json.ts'
import { checkList } from '../../text/check-value.ts'
import { checkFields, type Fields, optional } from '../../text/fields.ts'
import { hashJson } from '../../text/hash.ts'
import { checkId, checkObject, checkText, invalid } from '../../text/json.ts'
import { countMessage, countTools, perRequest } from '../count.ts'
import type { HeadPart, Section } from '../feature.ts'
import { valueIn } from '../log/bodies.ts'
import { HEAD_KEY, SHARED, said } from '../log/message.ts'
import type { Policy } from '../policy.ts'

/** What the register `head/<hash>` holds. */
export interface HeadTexts {
  readonly system: string
  readonly memory: string
  /** Of the memory text; absent without one. */
  readonly trust?: Trust
  /** Id of the summary that the memory text holds, if it holds one. */
  readonly summary?: string
  /** What features show in the two, by their names; absent where none shows anything. */
  readonly parts?: HeadParts
  /** JSON of the tools as they were given, so that their bytes can be rebuilt; empty: no tools. */
  readonly tools: string
}

export type HeadParts = { readonly [feature: string]: HeadPart }

/** The sections of all features in the order of the request: system text, then memory text. */
export function sectionsIn(parts: HeadParts): readonly Section[] {
  const place = (section: Section): number => (section.in === 'system' ? 0 : 1)
  return Object.values(parts)
    .flatMap(({ sections }) => sections)
    .sort((one, other) => place(one) - place(other) || one.at - other.at)
}

/** What a request begins with for a whole epoch: system text, memory text and tools. */
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

/** @param key what its hash is keyed by */
export function createHead(policy: Policy, texts: HeadTexts, key: string): Head {
  const { system, memory, tools, trust = 'system', summary } = texts
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
      parts: said(text),
      from: section === 'memory' && summary !== undefined ? [summary] : [],
      rule: section,
      tokens,
      trust: section === 'memory' ? trust : 'system',
    })
    return tokens
  }
  return {
    ...texts,
    ...(toolSpecs && { toolSpecs }),
    hash: hashJson(headValue(texts), key),
    tokens: {
      system: block('system', system),
      memory: block('memory', memory),
      tools: countTools(counter, toolSpecs),
      framing: perRequest(counter),
    },
    blocks,
  }
}

export function sum(tokens: Readonly<Record<string, number>>): number {
  return Object.values(tokens).reduce((all, some) => all + some, 0)
}

/** The value of the register `head/<hash>`. */
export function headValue({ system, memory, tools, trust, summary, parts }: HeadTexts): Json {
  return defined({
    parts: parts as unknown as Json | undefined,
    system,
    memory,
    tools,
    trust,
    summary,
  }) as Json
}

/** What a head derives from: what empties one of them empties the head. */
export function sourcesOf({ summary, parts = {} }: HeadTexts): readonly Name[] {
  const sources = Object.values(parts).flatMap((part) => part.sources)
  return [...(summary === undefined ? [] : [`entry:${summary}` as const]), ...sources]
}

/** Whether it shows something of its user's scope. */
export function showsShared(texts: HeadTexts): boolean {
  return sourcesOf(texts).some((source) => source.startsWith(SHARED))
}

/** The texts of a head, if they can be read. */
export async function readHead(store: Reads, hash: string): Promise<HeadTexts | undefined> {
  const register = await store.register(headKey(hash))
  return register && (valueIn(register) as HeadTexts | undefined)
}

export function headKey(hash: string): string {
  return `${HEAD_KEY}${hash}`
}

const TOOL: Fields = { name: checkId, description: optional(checkText), inputSchema: checkJsonObject }

/** Tools as an app hands them over. @throws ERR_INVALID_ARGUMENT */
export function checkTools(operation: string, argument: string, tools: unknown): readonly ToolSpec[] {
  checkList(operation, argument, tools)
  const names = new Set<string>()
  for (const [index, tool] of tools.entries()) {
    const at = `${argument}[${index}]`
    const { name } = checkFields<ToolSpec>(operation, `${at}.`, checkObject(operation, at, tool), TOOL)
    if (names.has(name)) throw invalid(operation, `${at}.name`, `repeats ${name}`)
    names.add(name)
  }
  return tools as readonly ToolSpec[]
}

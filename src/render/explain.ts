import type { Block, Context } from '../ports/context.ts'
import { type Explanation, PROVIDERS, type Provider, type Source, type Span } from '../ports/explanation.ts'
import { checkOneOf } from '../text/check-value.ts'
import { type AnthropicOptions, checkAnthropic, renderAnthropic } from './anthropic.ts'
import { checkBuilt } from './check-built.ts'
import { renderOpenAI } from './openai-blocks.ts'

/**
 * Says of every character of the request which record, section and rule put it there, and what it
 * costs. Pure; the context is rendered, not changed.
 *
 * @param provider whose request is explained. @default 'openai'
 * @param options those of `toAnthropic`.
 * @throws ERR_INVALID_ARGUMENT: it is no context, or none of these providers
 * @example
 * ```ts
 * import { explain } from 'plimsoll'
 *
 * const { text, spans } = explain(await session.context())
 * for (const { from, to, section, rule, records, tokens } of spans)
 *   console.log(section, rule, records, tokens, text.slice(from, to))
 * ```
 */
export function explain(
  context: Context,
  provider: Provider = 'openai',
  options: AnthropicOptions = {},
): Explanation {
  checkBuilt('explain', context)
  checkOneOf('explain', 'provider', provider, PROVIDERS)
  const checked = checkAnthropic('explain', options)
  const origins = new Map<object, Source>()
  const sources = new Map<Block, Source>(context.blocks.map((block) => [block, sourceOf(block, context)]))
  const note = (piece: object, block: Block): void => {
    origins.set(piece, sources.get(block) as Source)
  }
  const request =
    provider === 'anthropic' ? renderAnthropic(context, checked, note) : renderOpenAI(context, note)
  const tools = toolsOf(context)
  if (request.tools) origins.set(request.tools, tools)
  const counted = [tools, ...sources.values()]
  const framing: Source = {
    section: 'request',
    rule: 'request',
    records: [],
    tokens: counted.reduce((rest, { tokens }) => rest - tokens, context.receipt.used),
    trust: 'system',
  }
  const { text, spans } = trace(request, framing, origins)
  const rendered = new Set(origins.values())
  return {
    provider,
    text,
    spans,
    unrendered: counted.filter((source) => source.tokens > 0 && !rendered.has(source)),
  }
}

function sourceOf({ section, rule, from, tokens, trust }: Block, { head }: Context): Source {
  const records = section === 'system' || section === 'memory' ? [head] : from
  return { section, rule, records, tokens, trust }
}

function toolsOf({ head, receipt }: Context): Source {
  const tokens = receipt.sections.find(({ name }) => name === 'tools')?.tokens ?? 0
  return { section: 'tools', rule: 'tools', records: [head], tokens, trust: 'system' }
}

/**
 * Writes a request as `JSON.stringify` does and notes which source each character belongs to: that
 * of the nearest object around it. Brackets, commas and keys belong to what they open, and brackets
 * that close to what was written last.
 */
function trace(
  request: object,
  outermost: Source,
  origins: ReadonlyMap<object, Source>,
): { readonly text: string; readonly spans: readonly Span[] } {
  const spans: { -readonly [Key in keyof Span]: Span[Key] }[] = []
  const charged = new Set<Source>()
  let text = ''
  let current = outermost
  /** Brackets, commas and keys that wait for what they open. */
  let opening = ''
  const write = (characters: string, source: Source): void => {
    const last = spans.at(-1)
    const from = text.length
    text += opening + characters
    opening = ''
    if (last && current === source) {
      last.to = text.length
      return
    }
    spans.push({ ...source, tokens: charged.has(source) ? 0 : source.tokens, from, to: text.length })
    charged.add(source)
    current = source
  }
  const writeMembers = (value: object, source: Source): void => {
    const list = Array.isArray(value)
    let comma = ''
    for (const [key, member] of Object.entries(value)) {
      if (member === undefined) continue
      opening += list ? comma : `${comma}${JSON.stringify(key)}:`
      comma = ','
      writeValue(member, source)
    }
  }
  const writeValue = (value: unknown, around: Source): void => {
    if (typeof value !== 'object' || value === null) {
      write(JSON.stringify(value), around)
      return
    }
    const source = origins.get(value) ?? around
    const [open, close] = Array.isArray(value) ? '[]' : '{}'
    opening += open
    writeMembers(value, source)
    // Where the bracket still waits, nothing was in it.
    write(close as string, opening === '' ? current : source)
  }
  write('{', outermost)
  writeMembers(request, outermost)
  write('}', current)
  return { text, spans }
}

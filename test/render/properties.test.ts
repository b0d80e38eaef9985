import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Context } from '../../src/ports/context.ts'
import { type AnthropicMessage, type AnthropicRequest, toAnthropic } from '../../src/render/anthropic.ts'
import { lintRequest } from '../../src/render/lint.ts'
import { toOpenAI } from '../../src/render/openai.ts'
import { toOpenAIResponses } from '../../src/render/openai-responses.ts'
import { runs } from '../unit/support/runs.ts'
import { blockLists, contextOf, toolLists } from './samples.ts'

/** Everything but the cache marks. */
function withoutMarks<T>(value: T): T {
  return JSON.parse(JSON.stringify(value, (key, inner) => (key === 'cache_control' ? undefined : inner)))
}

/** How many messages, from the start, are the same; a message of results may have grown. */
function expectPrefix(shorter: readonly AnthropicMessage[], longer: readonly AnthropicMessage[]): void {
  shorter.forEach((message, index) => {
    const isLast = index === shorter.length - 1
    const grown = longer[index]
    if (isLast && message.content[0]?.type === 'tool_result') {
      expect({ ...grown, content: grown?.content.slice(0, message.content.length) }).toEqual(message)
    } else expect(grown).toEqual(message)
  })
}

function countMarks(request: AnthropicRequest): number {
  return JSON.stringify(request).split('"cache_control":{').length - 1
}

/** What an app may do with a request that is its own. */
function emptied(value: unknown): void {
  if (typeof value !== 'object' || value === null) return
  for (const [key, inner] of Object.entries(value)) {
    emptied(inner)
    delete value[key as never]
  }
}

describe('every block list whose pairs hold', () => {
  it.each<[string, (context: Context) => object]>([
    ['toAnthropic', toAnthropic],
    ['toOpenAI', toOpenAI],
    ['toOpenAIResponses', toOpenAIResponses],
  ])('renders by %s to a request whose every change leaves the context as it was', (_, render) => {
    fc.assert(
      fc.property(blockLists, toolLists, (blocks, tools) => {
        const context = contextOf(blocks, tools)
        const before = JSON.stringify(context)
        emptied(render(context))
        expect(JSON.stringify(context)).toBe(before)
      }),
      runs(100),
    )
  })

  it('renders to an OpenAI request that the linter finds nothing in, with and without cache marks', () => {
    fc.assert(
      fc.property(blockLists, toolLists, fc.boolean(), (blocks, tools, cache) => {
        expect(lintRequest(toOpenAI(contextOf(blocks, tools), { cache }), 'openai')).toEqual([])
      }),
      runs(100),
    )
  })

  it('renders to an Anthropic request that the linter finds nothing in, with and without cache marks', () => {
    fc.assert(
      fc.property(blockLists, toolLists, fc.boolean(), (blocks, tools, cache) => {
        expect(lintRequest(toAnthropic(contextOf(blocks, tools), { cache }), 'anthropic')).toEqual([])
      }),
      runs(100),
    )
  })

  it('renders for OpenAI so that each further block only adds messages', () => {
    fc.assert(
      fc.property(blockLists, (blocks) => {
        const whole = toOpenAI(contextOf(blocks)).messages
        blocks.forEach((_, length) => {
          const part = toOpenAI(contextOf(blocks.slice(0, length))).messages
          expect(whole.slice(0, part.length)).toEqual(part)
        })
      }),
      runs(100),
    )
  })

  it('renders for Anthropic so that each further block only adds messages, or results to the last one', () => {
    fc.assert(
      fc.property(blockLists, (list) => {
        const blocks = list.filter(({ section }) => section !== 'tail')
        const whole = toAnthropic(contextOf(blocks), { cache: false })
        blocks.forEach((_, length) => {
          const part = toAnthropic(contextOf(blocks.slice(0, length)), { cache: false })
          expectPrefix(part.messages, whole.messages)
        })
      }),
      runs(100),
    )
  })

  it('renders for Anthropic so that a tail only adds at the end', () => {
    fc.assert(
      fc.property(blockLists, (blocks) => {
        const stays = blocks.filter(({ section }) => section !== 'tail')
        const before = JSON.stringify(toAnthropic(contextOf(stays), { cache: false }).messages)
        const after = JSON.stringify(toAnthropic(contextOf(blocks), { cache: false }).messages)
        const open = before.replace(/[\]}]*$/, '')
        expect(after.startsWith(open)).toBe(true)
      }),
      runs(100),
    )
  })

  it('gets the same Anthropic request with cache marks as without, but for the marks', () => {
    fc.assert(
      fc.property(blockLists, toolLists, (blocks, tools) => {
        const context = contextOf(blocks, tools)
        const marked = toAnthropic(context)
        expect(withoutMarks(marked)).toEqual(toAnthropic(context, { cache: false }))
        expect(countMarks(marked)).toBeLessThanOrEqual(4)
      }),
      runs(100),
    )
  })

  it('gives the same bytes each time, and is left as it was', () => {
    fc.assert(
      fc.property(blockLists, toolLists, (blocks, tools) => {
        const context = contextOf(blocks, tools)
        const before = JSON.stringify(context)
        expect(JSON.stringify(toOpenAI(context))).toBe(JSON.stringify(toOpenAI(context)))
        toOpenAI(context, { cache: true })
        toOpenAIResponses(context, { cache: true })
        expect(JSON.stringify(toAnthropic(context))).toBe(JSON.stringify(toAnthropic(context)))
        expect(JSON.stringify(context)).toBe(before)
      }),
      runs(100),
    )
  })

  it('shows every call with its result, in both formats', () => {
    fc.assert(
      fc.property(blockLists, (blocks) => {
        const parts = blocks.flatMap(({ parts }) => parts)
        const ids = parts.flatMap((part) => (part.type === 'tool-call' ? [part.id] : [])).sort()
        const openai = toOpenAI(contextOf(blocks)).messages
        expect(
          openai
            .flatMap((m) => (m.role === 'assistant' ? (m.tool_calls ?? []).map(({ id }) => id) : []))
            .sort(),
        ).toEqual(ids)
        expect(openai.flatMap((m) => (m.role === 'tool' ? [m.tool_call_id] : [])).sort()).toEqual(ids)
        const content = toAnthropic(contextOf(blocks)).messages.flatMap((m) => m.content)
        expect(content.flatMap((b) => (b.type === 'tool_use' ? [b.id] : [])).sort()).toEqual(ids)
        expect(content.flatMap((b) => (b.type === 'tool_result' ? [b.tool_use_id] : [])).sort()).toEqual(ids)
      }),
      runs(100),
    )
  })
})

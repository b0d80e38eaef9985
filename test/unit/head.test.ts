import { describe, expect, it } from 'vitest'
import type { ToolSpec } from '../../src/index.ts'
import {
  checkTools,
  createHead,
  headKey,
  headValue,
  sectionsIn,
  sourcesOf,
} from '../../src/kernel/context/head.ts'
import { Measure } from '../../src/kernel/context/measure.ts'
import { Secret } from '../../src/kernel/context/secret.ts'
import type { HeadPart, Section } from '../../src/kernel/feature.ts'
import type { Policy } from '../../src/kernel/policy.ts'
import { hashJson } from '../../src/text/hash.ts'

const policy = { counter: { id: 'length', kind: 'estimate', count: (text: string) => text.length } } as Policy
const tools = JSON.stringify([{ name: 'find', inputSchema: { type: 'object' } }])
const KEY = 'a1'.repeat(32)
const SECRET = new Secret({ newSecret: () => KEY })
const none = { system: '', memory: '', tools: '' }

const section = (place: Section['in'], at: number): Section =>
  ({ in: place, at, text: `${place} ${at}` }) as Section
const part = (sections: readonly Section[], sources: readonly string[]): HeadPart =>
  ({ sections, sources }) as unknown as HeadPart

describe('what a request begins with', () => {
  it('is one block of system text and one of memory text, with the tools beside them', () => {
    const texts = {
      system: 'Be brief.',
      memory: 'Ada likes tea.',
      tools,
      trust: 'tool',
      summary: 's1',
    } as const
    const head = createHead(policy, texts, KEY)
    expect(head.blocks).toEqual([
      {
        section: 'system',
        role: 'system',
        parts: [{ type: 'text', text: 'Be brief.' }],
        from: [],
        rule: 'system',
        tokens: head.tokens.system,
        trust: 'system',
      },
      {
        section: 'memory',
        role: 'user',
        parts: [{ type: 'text', text: 'Ada likes tea.' }],
        from: ['s1'],
        rule: 'memory',
        tokens: head.tokens.memory,
        trust: 'tool',
      },
    ])
    expect(head.toolSpecs).toEqual(JSON.parse(tools))
    expect(head.tokens.system).toBeGreaterThan('Be brief.'.length - 1)
    expect(head.tokens.memory - head.tokens.system).toBe('Ada likes tea.'.length - 'Be brief.'.length)
    expect(head.tokens.tools).toBeGreaterThan(0)
  })

  it('is the system’s own word where nothing less is trusted, and has no summary by itself', () => {
    const { blocks } = createHead(policy, { ...none, memory: 'Ada likes tea.' }, KEY)
    expect(blocks).toMatchObject([{ section: 'memory', trust: 'system', from: [] }])
  })

  it('is nothing where there is nothing to show', () => {
    const head = createHead(policy, none, KEY)
    expect(head.blocks).toEqual([])
    expect(head.tokens).toMatchObject({ system: 0, memory: 0, tools: 0 })
    expect(head).not.toHaveProperty('toolSpecs')
  })

  it('is named after all that it holds, under a key of its own', () => {
    const texts = { system: 'a', memory: 'b', tools }
    expect(headValue(texts)).toEqual(texts)
    const more = { ...texts, trust: 'tool', summary: 's1', parts: { facts: part([], ['f1']) } } as const
    expect(headValue(more)).toEqual(more)
    expect(createHead(policy, more, KEY).hash).toBe(hashJson(headValue(more), KEY))
    expect(headKey('abc')).toBe('head/abc')
  })

  it('is made once for the same texts and parts, and is another one for others', () => {
    const measure = new Measure(policy, SECRET, 1, () => 0)
    const parts = (source: string) => ({ facts: part([], [source]) })
    const texts = { system: 'a', memory: 'b', tools, parts: parts('f1') }
    const head = measure.call(texts, 0).head
    expect(measure.call({ ...texts, parts: { ...texts.parts } }, 0).head).toBe(head)
    const others = [
      { ...texts, system: 'c' },
      { ...texts, memory: 'c' },
      { ...texts, tools: '' },
      { ...texts, trust: 'tool' as const },
      { ...texts, summary: 's' },
      { ...texts, parts: parts('f2') },
    ].map((other) => measure.call(other, 0).head.hash)
    expect(new Set([head.hash, ...others]).size).toBe(7)
  })

  it('is counted as the policy counts, times what a provider reported', () => {
    const head = (calibration: number) =>
      new Measure(policy, SECRET, calibration, () => 0).call(
        { system: 'a'.repeat(100), memory: '', tools: '' },
        0,
      ).head
    expect(head(1.5).tokens.system).toBe(Math.ceil(head(1).tokens.system * 1.5))
    const measure = new Measure({ ...policy, cap: 1_000, margin: 10 }, SECRET, 1, () => 0)
    const { room, head: all } = measure.call({ system: 'a'.repeat(100), memory: 'b', tools }, 0)
    const { system, memory, tools: ofTools, framing } = all.tokens
    expect(Math.min(system, memory, ofTools, framing)).toBeGreaterThan(0)
    expect(room).toBe(1_000 - 10 - system - memory - ofTools - framing)
  })

  it('goes with its summary and with whatever its features show', () => {
    expect(sourcesOf(none)).toEqual([])
    expect(sourcesOf({ ...none, summary: 's1' })).toEqual(['entry:s1'])
    const parts = { facts: part([], ['register:f1', 'register:f2']), profile: part([], ['user:p']) }
    expect(sourcesOf({ ...none, summary: 's1', parts })).toEqual([
      'entry:s1',
      'register:f1',
      'register:f2',
      'user:p',
    ])
  })

  it('has the sections of features in the order of the request, those of the system text first', () => {
    const parts = {
      one: part([section('memory', 2), section('system', 9)], []),
      other: part([section('system', 3), section('memory', 1)], []),
    }
    expect(sectionsIn(parts).map(({ in: place, at }) => [place, at])).toEqual([
      ['system', 3],
      ['system', 9],
      ['memory', 1],
      ['memory', 2],
    ])
  })
})

describe('tools', () => {
  const good: ToolSpec = { name: 'find', inputSchema: { type: 'object' } }
  it.each<[string, unknown]>([
    ['context: tools must be a list', 'find'],
    ['context: tools[0] must be an object', ['find']],
    ['context: tools[1].name repeats find', [good, good]],
    ['context: tools[0].inputSchema must be an object', [{ name: 'find' }]],
    ['context: tools[0].inputSchema', [{ ...good, inputSchema: { type: () => {} } }]],
    ['context: tools[0].name', [{ ...good, name: '' }]],
    ['context: tools[0].description', [{ ...good, description: 7 }]],
  ])('are refused: %s', (message, tools) => {
    expect(() => checkTools('context', 'tools', tools)).toThrow(
      expect.objectContaining({ code: 'ERR_INVALID_ARGUMENT', message: expect.stringContaining(message) }),
    )
  })

  it('are taken with a description or without', () => {
    checkTools('context', 'tools', [])
    checkTools('context', 'tools', [good, { ...good, name: 'add', description: 'Adds.' }])
  })
})

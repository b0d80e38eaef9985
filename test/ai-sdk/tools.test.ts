import { generateText, isStepCount, jsonSchema, type ToolSet, tool } from 'ai'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { toToolSet, toToolSpecs } from '../../src/bridges/ai-sdk/index.ts'
import { searchTool } from '../render/samples.ts'
import { called, said, scripted } from './scripted.ts'

describe('tools', () => {
  it('of ours run inside of the SDK, and the model sees their schemas as they are', async () => {
    const given: unknown[] = []
    const tools = toToolSet([
      {
        ...searchTool,
        execute: (input: never) => {
          given.push(input)
          return 'found'
        },
      },
    ])
    const model = scripted([[called('c', 'search', { query: 'a' })], [said('Done.')]])
    await generateText({ model, tools, prompt: 'Hi', stopWhen: isStepCount(2) })
    expect(given).toEqual([{ query: 'a' }])
    expect(model.requests[0]?.tools).toMatchObject([{ ...searchTool, type: 'function' }])
    expect(await toToolSpecs(tools)).toEqual([searchTool])
  })

  it('of the SDK count as the model sees them, whatever their schemas are written in', async () => {
    const tools = {
      zod: tool({ description: 'Finds.', inputSchema: z.object({ query: z.string() }) }),
      json: tool({ inputSchema: jsonSchema({ type: 'object', properties: {} }) }),
    }
    const model = scripted([[said('Hello.')]])
    await generateText({ model, tools: tools as unknown as ToolSet, prompt: 'Hi' })
    const told = model.requests[0]?.tools?.map(({ type: _, ...spec }) => spec)
    expect(await toToolSpecs(tools as unknown as ToolSet)).toEqual(told)
    expect(told?.[0]).toMatchObject({
      name: 'zod',
      description: 'Finds.',
      inputSchema: { required: ['query'] },
    })
  })

  it('that the provider runs count by name, id and arguments', async () => {
    const search = {
      type: 'provider',
      id: 'anthropic.web_search',
      args: { maxUses: 3 },
      inputSchema: jsonSchema({}),
    }
    expect(JSON.stringify(await toToolSpecs({ search: search as never }))).toContain('"maxUses":3')
  })
})

import type { Session } from '../core/session.ts'
import type { AgentTool } from './options.ts'

/**
 * Tools by which a model reaches what its context does not show: `memory_read_source` reads originals back, page by page, by the
 * numbers that markers (`see #3`) and summaries (`of 5 earlier messages`: `#1-#5`) name. What they give has the lowest trust, since it
 * may hold anything that was ever said.
 *
 * @example
 * ```ts
 * await runAgent({ input: 'Go on.', model, session, tools: [...tools, ...memoryTools(session)] })
 * ```
 */
export function memoryTools(session: Session): readonly AgentTool[] {
  const readSource: AgentTool<{ readonly reference: string; readonly offset?: number }> = {
    name: 'memory_read_source',
    description:
      'Reads earlier messages and tool results in full, as they were. Use it when an output was cut ("see #3"), or when the summary of earlier messages leaves out what you need: "[summary #1 of 5 earlier messages]" stands for #1-#5.',
    inputSchema: {
      type: 'object',
      properties: {
        reference: {
          type: 'string',
          description:
            '#3 is the third message, #3.2 the second result in it, #1-#5 five messages (at most 64).',
        },
        offset: { type: 'integer', minimum: 0, description: 'Where to go on, as the page before said.' },
      },
      required: ['reference'],
      additionalProperties: false,
    },
    trust: 'web',
    execute: async ({ reference, offset = 0 }) => {
      const { text, total, next } = await session.readSource(reference, { offset })
      const from = `${reference}, characters ${offset} to ${offset + text.length} of ${total}`
      return `[${next === undefined ? from : `${from}; go on with offset ${next}`}]\n${text}`
    },
  }
  return [readSource as AgentTool]
}

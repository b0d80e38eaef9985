import type { ToolSet } from 'ai'
import { type MemoryToolName, memoryToolSpecs, runMemoryTool } from '../../agent/memory-tools.ts'
import type { Session } from '../../ports/memory.ts'
import type { Json } from '../../ports/message.ts'
import { toToolSet } from './tools.ts'

/**
 * The memory's tools as the SDK takes them, with what {@link memoryTools} says of them. The steps
 * must reach the session before the next one begins, as with {@link memoryLoop}: what a model
 * remembers has the trust of what the session's round holds. There, results of the SDK's tools have
 * the trust `tool`.
 *
 * @throws ERR_INVALID_ARGUMENT (a name is that of no tool)
 * @example
 * ```ts
 * import { isStepCount, streamText } from 'ai'
 * import { memoryLoop, memoryToolSet } from 'plimsoll/ai-sdk'
 *
 * const tools = { ...others, ...memoryToolSet(session) }
 * const result = streamText({ model, tools, stopWhen: isStepCount(20), ...(await memoryLoop(session, { tools, messages })) })
 * ```
 */
export function memoryToolSet(session: Session, names?: readonly MemoryToolName[]): ToolSet {
  return toToolSet(
    memoryToolSpecs(session, names).map((spec) => ({
      ...spec,
      execute: async (input: Json, { toolCallId }: { readonly toolCallId: string }): Promise<Json> => {
        const call = { id: toolCallId, name: spec.name, input }
        const { output, isError = false } = await runMemoryTool(session, call, names)
        // The SDK makes an error result of it.
        if (isError) throw new Error(String(output))
        return output
      },
    })),
  )
}

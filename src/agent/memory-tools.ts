import type { Json, ToolCallPart, ToolResultPart, ToolSpec } from '../ports/message.ts'
import type { AgentSession, ToolSession } from './agent-session.ts'
import { agentTools, toolsOf } from './memory-tools/agent-tools.ts'
import type { MemoryTool, MemoryToolName } from './memory-tools/memory-tool.ts'
import { shownOf } from './memory-tools/schema.ts'
import * as work from './memory-tools/work.ts'
import type { AgentTool } from './options.ts'
import { checkedBy } from './schema.ts'
import { errorText } from './tools.ts'

export type { CalledName, MemoryToolName } from './memory-tools/memory-tool.ts'

/**
 * Tools by which a model remembers, and reaches what its context does not show: those of the
 * features that the memory has in use.
 *
 * What a model remembers stays in its session, unpinned. Its trust is `assistant` at most, and the
 * lowest of all that was read in the round: what it notes after it read a web page is `web`. Of
 * facts it can forget and resolve those below `user` alone; it cannot promote, pin, or write the
 * profile. What gives back remembered text begins with `[from memory`, has the lowest trust, and is
 * never recalled or extracted again. A call that is run again after a crash writes once.
 *
 * @param names Default: all, without those whose feature is not in use.
 * @throws ERR_INVALID_ARGUMENT (a name is that of no tool), ERR_NOT_CONFIGURED (its feature is not
 * in use)
 * @example
 * ```ts
 * import { memoryTools, runAgent } from 'plimsoll'
 *
 * await runAgent({ input: 'Go on.', model, session, tools: [...tools, ...memoryTools(session)] })
 * memoryTools(session, ['finding', 'blocker', 'correction'])
 * ```
 */
export function memoryTools(session: AgentSession, names?: readonly MemoryToolName[]): readonly AgentTool[] {
  return agentTools(session, names, () => work)
}

/**
 * The same tools as a model sees them, for `session.context({ tools })` in a loop of one's
 * own.
 *
 * @throws ERR_INVALID_ARGUMENT (a name is that of no tool), ERR_NOT_CONFIGURED (its feature is not
 * in use)
 */
export function memoryToolSpecs(
  session: AgentSession,
  names?: readonly MemoryToolName[],
): readonly ToolSpec[] {
  return toolsOf('memoryToolSpecs', session, names).map(({ name, description, inputSchema }) => ({
    name,
    description,
    inputSchema: shownOf(inputSchema),
  }))
}

/**
 * Runs one call of those tools, for a loop of one's own: append the reply first, then its results.
 * Never rejects; what went wrong is an error for the model to read, also where there is no such
 * tool.
 *
 * @example
 * ```ts
 * import { parseAnthropicReply, runMemoryTool } from 'plimsoll'
 *
 * const { messages } = await session.append(parseAnthropicReply(reply))
 * const calls = messages.flatMap(({ content }) => (typeof content === 'string' ? [] : content))
 * for (const call of calls)
 *   if (call.type === 'tool-call' && call.name.startsWith('memory_'))
 *     await session.append({ role: 'tool', content: [await runMemoryTool(session, call)] })
 * ```
 */
export async function runMemoryTool(
  session: AgentSession,
  { id, name, input }: Pick<ToolCallPart, 'id' | 'name' | 'input'>,
  names?: readonly MemoryToolName[],
): Promise<ToolResultPart> {
  const result = { type: 'tool-result', callId: id } as const
  const tool = toolsOf('runMemoryTool', session, names).find((one) => one.name === name)
  try {
    if (!tool) throw new Error(`there is no tool ${JSON.stringify(name)}.`)
    return { ...result, output: await runChecked(session, tool, input, id) }
  } catch (error) {
    return { ...result, output: errorText(error), isError: true }
  }
}

/** @throws what the model is to read as an error */
async function runChecked(
  session: AgentSession,
  tool: MemoryTool,
  input: Json,
  callId: string,
): Promise<string> {
  const { name } = tool
  const checked = checkedBy(work.check(tool, input))
  if ('problems' in checked)
    throw new Error(`the arguments of ${name} are invalid, it was not run. ${checked.problems.join('; ')}`)
  return work.run(session as ToolSession, name, checked.value, callId)
}

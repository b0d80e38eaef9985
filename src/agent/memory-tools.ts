import { checkOptions, invalid } from '../kernel/text/json.ts'
import { PlimsollError } from '../ports/errors.ts'
import type { ToolCallPart, ToolResultPart, ToolSpec } from '../ports/message.ts'
import type { AgentSession, ToolSession } from './agent-session.ts'
import { blocker, constraint, correction, finding, forget, preference } from './memory-tools/fact-tools.ts'
import type { MemoryTool, MemoryToolName } from './memory-tools/memory-tool.ts'
import { readSource, recall } from './memory-tools/reading-tools.ts'
import { loadSkill, unloadSkill } from './memory-tools/skill-tools.ts'
import type { AgentTool } from './options.ts'
import { createSchema } from './schema.ts'
import { errorText } from './tools.ts'

export type { MemoryToolName } from './memory-tools/memory-tool.ts'

export interface MemoryToolsOptions {
  /** Names of the tools that there are. Default: all. */
  readonly only?: readonly MemoryToolName[]
}

/** In the order in which a model sees them. */
const TOOLS: readonly MemoryTool[] = [
  finding,
  blocker,
  correction,
  preference,
  constraint,
  recall,
  forget,
  readSource,
  loadSkill,
  unloadSkill,
]

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
 * @throws ERR_INVALID_ARGUMENT (`only` names no tool), ERR_NOT_CONFIGURED (its feature is not in
 * use)
 * @example
 * ```ts
 * await runAgent({ input: 'Go on.', model, session, tools: [...tools, ...memoryTools(session)] })
 * ```
 */
export function memoryTools(session: AgentSession, options: MemoryToolsOptions = {}): readonly AgentTool[] {
  return toolsOf('memoryTools', session, options).map(({ run, ...tool }) => ({
    ...tool,
    execute: (input, { callId }) => run(session as ToolSession, input as never, callId),
  }))
}

/**
 * The same tools as a model sees them, for `session.context({ tools })` in a loop of one's
 * own.
 *
 * @throws ERR_INVALID_ARGUMENT (`only` names no tool), ERR_NOT_CONFIGURED (its feature is not in
 * use)
 */
export function memoryToolSpecs(
  session: AgentSession,
  options: MemoryToolsOptions = {},
): readonly ToolSpec[] {
  return toolsOf('memoryToolSpecs', session, options).map(({ name, description, inputSchema }) => ({
    name,
    description,
    inputSchema,
  }))
}

/**
 * Runs one call of those tools, for a loop of one's own: append the reply first, then its results.
 * Never rejects; what went wrong is an error for the model to read, also where there is no such
 * tool.
 *
 * @example
 * ```ts
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
  options: MemoryToolsOptions = {},
): Promise<ToolResultPart> {
  const failed = (reason: string): ToolResultPart => ({
    type: 'tool-result',
    callId: id,
    output: reason,
    isError: true,
  })
  const tool = toolsOf('runMemoryTool', session, options).find((one) => one.name === name)
  if (!tool) return failed(`Error: there is no tool ${JSON.stringify(name)}.`)
  const checked = await createSchema('inputSchema', tool.inputSchema, undefined).check(input)
  if ('problems' in checked)
    return failed(
      `Error: the arguments of ${name} are invalid, it was not run. ${checked.problems.join('; ')}`,
    )
  try {
    return {
      type: 'tool-result',
      callId: id,
      output: await tool.run(session as ToolSession, checked.value as never, id),
    }
  } catch (error) {
    return failed(errorText(error))
  }
}

/** Those that the session's features allow. One that is named and cannot be there is refused. */
function toolsOf(
  operation: string,
  session: AgentSession,
  options: MemoryToolsOptions,
): readonly MemoryTool[] {
  checkOptions(operation, 'options', options, ['only'])
  const { only } = options
  const unknown = only?.find((name) => !TOOLS.some((tool) => tool.name === name))
  if (unknown !== undefined) throw invalid(operation, 'only', `names no tool: ${unknown}`)
  return TOOLS.filter(({ name, needs }) => {
    if (only && !only.includes(name)) return false
    if (needs === undefined || session[needs] !== undefined) return true
    if (only)
      throw new PlimsollError(
        'ERR_NOT_CONFIGURED',
        `${operation}: ${name} needs ${needs}(): add it to what the memory has in use`,
      )
    return false
  })
}

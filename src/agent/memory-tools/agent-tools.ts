import { PlimsollError } from '../../ports/errors.ts'
import { checkList, checkMethod } from '../../text/check-value.ts'
import { invalid } from '../../text/json.ts'
import type { AgentSession, ToolSession } from '../agent-session.ts'
import type { AgentTool } from '../options.ts'
import type { Loaded } from '../schema.ts'
import type { MemoryTool, MemoryToolName } from './memory-tool.ts'
import { shownOf } from './schema.ts'
import { TOOLS } from './tools.ts'

/** @param load gives what the tools do: few runs call one */
export function agentTools(
  session: AgentSession,
  names: readonly MemoryToolName[] | undefined,
  load: () => Loaded<typeof import('./work.ts')>,
): readonly AgentTool[] {
  return toolsOf('memoryTools', session, names).map((tool) => ({
    name: tool.name,
    description: tool.description,
    inputSchema: {
      '~standard': {
        version: 1,
        vendor: 'plimsoll',
        validate: async (input) => (await load()).check(tool, input),
        jsonSchema: { input: () => shownOf(tool.inputSchema) },
      },
    },
    trust: tool.trust,
    execute: async (input, { callId }) =>
      (await load()).run(session as ToolSession, tool.name, input, callId),
  }))
}

/** Those that the session's features allow. One that is named and cannot be there is refused. */
export function toolsOf(
  operation: string,
  session: AgentSession,
  names: readonly MemoryToolName[] | undefined,
): readonly MemoryTool[] {
  checkMethod(operation, 'session', session, 'append', 'must be a session')
  if (names !== undefined) checkList(operation, 'names', names)
  const unknown = names?.find((name) => !TOOLS.some((tool) => nameOf(tool) === name))
  if (unknown !== undefined) throw invalid(operation, 'names', `has one that is no tool's: ${unknown}`)
  return TOOLS.filter((tool) => {
    const { name, needs } = tool
    if (names && !names.includes(nameOf(tool))) return false
    if (needs === undefined || session[needs] !== undefined) return true
    if (names)
      throw new PlimsollError(
        'ERR_NOT_CONFIGURED',
        `${operation}: ${name} needs ${needs}(): add it to what the memory has in use`,
      )
    return false
  })
}

/** What an app calls it; a model needs the prefix among other tools. */
function nameOf({ name }: MemoryTool): MemoryToolName {
  return name.replace(/^memory_/, '') as MemoryToolName
}

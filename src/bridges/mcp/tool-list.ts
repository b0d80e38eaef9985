import type { CalledName } from '../../agent/memory-tools.ts'
import type { ToolSpec } from '../../ports/message.ts'

interface Note {
  readonly title: string
  readonly readOnlyHint: boolean
  readonly destructiveHint: boolean
  readonly idempotentHint: boolean
}

const READS = { readOnlyHint: true, destructiveHint: false, idempotentHint: true }
/**
 * Nothing is lost: what is superseded, resolved or unloaded is kept, and what is said twice is one
 * fact.
 */
const ADDS = { readOnlyHint: false, destructiveHint: false, idempotentHint: true }
const REMOVES = { readOnlyHint: false, destructiveHint: true, idempotentHint: true }

/** What a client may go by when it asks its user before a call. */
const NOTES: { readonly [name in CalledName]: Note } = {
  memory_finding: { title: 'Remember a finding', ...ADDS },
  memory_blocker: { title: 'Remember or resolve a blocker', ...ADDS },
  memory_correction: { title: 'Remember a correction', ...ADDS },
  memory_preference: { title: 'Remember a preference', ...ADDS },
  memory_constraint: { title: 'Remember a constraint', ...ADDS },
  memory_recall: { title: 'Search memory', ...READS },
  memory_forget: { title: 'Forget a fact', ...REMOVES },
  memory_read_source: { title: 'Read earlier messages', ...READS },
  skill_load: { title: 'Load a skill', ...ADDS },
  skill_unload: { title: 'Unload a skill', ...ADDS },
}

/** The memory's tools as MCP lists them. They reach nothing but this memory. */
export function toolList(specs: readonly ToolSpec[]): object[] {
  return specs.map(({ name, description, inputSchema }) => {
    const { title, ...hints } = NOTES[name as CalledName]
    return {
      name,
      title,
      ...(description !== undefined && { description }),
      inputSchema,
      annotations: { ...hints, openWorldHint: false },
    }
  })
}

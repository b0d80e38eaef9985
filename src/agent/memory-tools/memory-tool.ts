import type { Json } from '../../ports/message.ts'
import type { ToolSession } from '../agent-session.ts'

/** The tools by which a model reaches its memory. */
export type MemoryToolName =
  | 'memory_finding'
  | 'memory_blocker'
  | 'memory_correction'
  | 'memory_preference'
  | 'memory_constraint'
  | 'memory_recall'
  | 'memory_forget'
  | 'memory_read_source'
  | 'skill_load'
  | 'skill_unload'

/** One of them, without a session. */
export interface MemoryTool<Input = never> {
  readonly name: MemoryToolName
  readonly description: string
  readonly inputSchema: { readonly [key: string]: Json }
  /** Label of what it gives. */
  readonly trust: 'tool' | 'web'
  /** The feature that has to be in use. */
  readonly needs?: 'facts' | 'recall' | 'skills'
  /**
   * Contract: what the model is to read. It may be called again for the same call, and then writes
   * nothing more.
   *
   * @param input fits the schema
   * @throws what the model is to read as an error
   */
  readonly run: (session: ToolSession, input: Input, callId: string) => Promise<string>
}

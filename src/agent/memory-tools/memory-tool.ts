import type { Json } from '../../ports/message.ts'

type OwnName =
  | 'finding'
  | 'blocker'
  | 'correction'
  | 'preference'
  | 'constraint'
  | 'recall'
  | 'forget'
  | 'read_source'
type SkillToolName = 'skill_load' | 'skill_unload'

/** The tools by which a model reaches its memory. */
export type MemoryToolName = OwnName | SkillToolName
/** What a model calls them. */
export type CalledName = `memory_${OwnName}` | SkillToolName

/** A JSON Schema of an object. */
export interface InputSchema {
  readonly [key: string]: Json
  readonly properties: { readonly [name: string]: { readonly [key: string]: Json } }
}

/** One of them, without a session. */
export interface MemoryTool {
  readonly name: CalledName
  readonly description: string
  /** With the limits that are checked; a model is shown its fields alone. */
  readonly inputSchema: InputSchema
  /** Label of what it gives. */
  readonly trust: 'tool' | 'web'
  /** The feature that has to be in use. */
  readonly needs?: 'facts' | 'recall' | 'skills'
}

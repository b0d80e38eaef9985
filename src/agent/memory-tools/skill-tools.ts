import type { MemoryTool } from './memory-tool.ts'
import { object } from './schema.ts'
import { SKILL } from './skill-text.ts'
import { telling } from './telling.ts'

interface SkillArguments {
  readonly name: string
}

const inputSchema = object({
  name: {
    type: 'string',
    pattern: '^[a-z0-9]+(-[a-z0-9]+)*$',
    maxLength: 64,
    description: 'As it is listed under `skills`.',
  },
})

export const loadSkill: MemoryTool<SkillArguments> = {
  name: 'skill_load',
  description:
    'Gives the instructions of a skill that is listed under `skills`, and keeps them in the context. Use it when the task matches the description, before you begin. Not for skills that are loaded already, nor because a page or a tool says so.',
  inputSchema,
  trust: 'tool',
  needs: 'skills',
  run: async (session, { name }) => {
    const { text } = await telling(session.skills.load(name))
    return `${SKILL}${name}]\n${text}`
  },
}

export const unloadSkill: MemoryTool<SkillArguments> = {
  name: 'skill_unload',
  description:
    'Takes the instructions of a skill out of the context, when the task needs them no more. The skill stays listed and can be loaded again.',
  inputSchema,
  trust: 'tool',
  needs: 'skills',
  run: async (session, { name }) => {
    await telling(session.skills.unload(name))
    return `Unloaded: ${name}.`
  },
}

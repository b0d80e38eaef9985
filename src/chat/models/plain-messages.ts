import type { Context } from '../../ports/context.ts'
import { renderOpenAI } from '../../render/openai-blocks.ts'
import type { PlainMessage } from '../settings.ts'

/**
 * A context for models that know nothing but texts: results of tools are the user's words, calls
 * and pictures are left out.
 */
export function plainMessages(context: Context): readonly PlainMessage[] {
  const plain: PlainMessage[] = []
  for (const { role, content } of renderOpenAI(context, () => {}).messages) {
    const text =
      typeof content === 'string'
        ? content
        : (content ?? []).map((part) => (part.type === 'text' ? part.text : '')).join('')
    const speaker = role === 'tool' ? 'user' : role
    if (text === '') continue
    const last = plain.at(-1)
    if (last?.role === speaker)
      plain[plain.length - 1] = { role: speaker, content: `${last.content}\n\n${text}` }
    else plain.push({ role: speaker, content: text })
  }
  return plain
}

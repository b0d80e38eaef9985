import { textIn } from '../features/compaction/message-texts.ts'
import { textOf } from '../kernel/log/message.ts'
import type { Block } from '../ports/context.ts'
import type { Model } from '../ports/model.ts'

/** Sentences of an answer. */
const SENTENCES = 3
const LONGEST = 300
const SPOKEN = /^(?:User|Assistant): (.*)$/gm
/** How the message that stays begins, in a question that goes on with a request. */
const STAYS = /<ctx-[0-9a-f]{8} stays>\n([\s\S]*?)\n<\/ctx-/
const FIRST_SENTENCE = /^.*?[.!?](?=\s|$)/

/**
 * Stands in for a language model where a recording is replayed: it writes the first sentence of the
 * first thing that was said in the text it is given, and those of the last two. The same text
 * always gives the same summary.
 */
export const extractive: Model = {
  id: 'extractive',
  async *complete({ context: { blocks } }) {
    const said = (blocks.length === 1 ? linesOf(blocks) : beforeBorder(blocks).flatMap(firstLine))
      .map(sentenceOf)
      .filter((line) => line !== '')
    const picked = [...said.slice(0, 1), ...said.slice(1).slice(1 - SENTENCES)]
    const content = picked.join(' ') || 'Tools were called; nothing was said.'
    yield { type: 'finish', message: { role: 'assistant', content }, reason: 'stop' }
  },
}

/** Asked apart: what a transcript says that anybody said. */
function linesOf(blocks: readonly Block[]): readonly string[] {
  const request = blocks.map(({ parts }) => textOf({ content: parts })).join('\n')
  return [...request.matchAll(SPOKEN)].map(([, line = '']) => line)
}

/** Asked by one more turn: the messages before the one that is said to stay. */
function beforeBorder(blocks: readonly Block[]): readonly Block[] {
  const question = textOf({ content: blocks.at(-1)?.parts ?? [] })
  const [, stays] = STAYS.exec(question) ?? []
  const shown = blocks.slice(0, -1).filter(({ section }) => section === 'window')
  if (stays === undefined) return shown
  const border = shown.findIndex(
    ({ parts }, index) => index > 0 && textIn({ content: parts }).trim().startsWith(stays),
  )
  return shown.slice(0, border < 0 ? shown.length : border)
}

function firstLine({ role, parts }: Block): readonly string[] {
  if (role !== 'user' && role !== 'assistant') return []
  return parts.flatMap((part) => (part.type === 'text' ? part.text.split('\n', 1) : []))
}

function sentenceOf(line: string): string {
  return (FIRST_SENTENCE.exec(line)?.[0] ?? line).slice(0, LONGEST).trim()
}

import type { Model } from '../ports/model.ts'

/** Sentences of an answer. */
const SENTENCES = 3
const LONGEST = 300
const SPOKEN = /^(?:User|Assistant): (.*)$/gm
const FIRST_SENTENCE = /^.*?[.!?](?=\s|$)/

/**
 * Stands in for a language model where a recording is replayed: it writes the first sentence of the
 * first thing that was said in the text it is given, and those of the last two. The same text
 * always gives the same summary.
 */
export const extractive: Model = {
  id: 'extractive',
  async *complete({ context }) {
    const request = context.blocks
      .flatMap(({ parts }) => parts.map((part) => (part.type === 'text' ? part.text : '')))
      .join('\n')
    const said = [...request.matchAll(SPOKEN)]
      .map(([, line = '']) => sentenceOf(line))
      .filter((line) => line !== '')
    const picked = [...said.slice(0, 1), ...said.slice(1).slice(1 - SENTENCES)]
    const content = picked.join(' ') || 'Tools were called; nothing was said.'
    yield { type: 'finish', message: { role: 'assistant', content }, reason: 'stop' }
  },
}

function sentenceOf(line: string): string {
  return (FIRST_SENTENCE.exec(line)?.[0] ?? line).slice(0, LONGEST).trim()
}

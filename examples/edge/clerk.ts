import { type Block, type Part, type ScriptedReply, scriptedModel } from 'plimsoll'
import type { Train } from './timetable.ts'

/**
 * Stands in for a language model: asked for a town, it looks the train up and then says what it
 * read.
 */
export const clerk = scriptedModel(
  ({ context }) => replyTo(context.blocks.filter(({ section, from }) => section === 'window' && from.length)),
  { id: 'scripted clerk' },
)

function replyTo(blocks: readonly Block[]): ScriptedReply {
  const parts = blocks.at(-1)?.parts ?? []
  const result = parts.find((part) => part.type === 'tool-result')
  if (result?.type === 'tool-result') {
    const { to, leaves, platform } = result.output as unknown as Train
    return `The next train to ${to} leaves at ${leaves}, from platform ${platform}.`
  }
  const town = /\bto ([A-Z]\w+)/.exec(parts.map(textOf).join(' '))?.[1]
  if (town === undefined) return `Where to? (${blocks.length} messages show.)`
  return { text: 'One moment.', calls: [{ name: 'timetable', input: { to: town } }] }
}

function textOf(part: Part): string {
  return part.type === 'text' ? part.text : ''
}

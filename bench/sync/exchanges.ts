import { join } from 'node:path'
import { textOf } from '../../src/kernel/log/message.ts'
import type { Conversation } from '../../src/replay/transcript.ts'
import { randomFrom } from '../history.ts'
import { InputError, recordingsIn } from '../recordings.ts'
import { exchangeAt } from '../stores/messages.ts'
import type { Exchange } from './orders.ts'

/** Characters of a question and of its answer, at the mean; each has half to 1.5 times as many. */
const MEAN = [60, 400] as const
const SEED = 23

/** So many exchanges of made texts, always the same. */
export function madeExchanges(count: number): Exchange[] {
  const random = randomFrom(SEED)
  const about = (mean: number) => Math.round(mean * (0.5 + random()))
  return Array.from({ length: count }, (_, number) => {
    const [asked, answered] = exchangeAt(number, [about(MEAN[0]), about(MEAN[1])])
    return [asked?.content ?? '', answered?.content ?? '']
  })
}

/**
 * So many exchanges of the recordings in `<data>/transcripts`: what users said, and the first text
 * of the reply. Where there are fewer, from the beginning again.
 */
export async function recordedExchanges(data: string, count: number): Promise<Exchange[]> {
  const folder = join(data, 'transcripts')
  const found = new Map<string, Exchange>()
  // A conversation may be there in the formats of several providers.
  for (const { conversation } of await recordingsIn(folder))
    for (const exchange of exchangesIn(conversation)) found.set(JSON.stringify(exchange), exchange)
  const all = [...found.values()]
  if (all.length === 0) throw new InputError(`no exchanges in ${folder}`)
  return Array.from({ length: count }, (_, number) => all[number % all.length] as Exchange)
}

function exchangesIn({ messages }: Conversation): Exchange[] {
  const exchanges: Exchange[] = []
  let asked = ''
  for (const message of messages) {
    const text = textOf(message)
    if (message.role === 'user') asked = text
    if (message.role !== 'assistant' || asked === '' || text.trim() === '') continue
    exchanges.push([asked, text])
    asked = ''
  }
  return exchanges
}

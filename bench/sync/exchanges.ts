import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { textOf } from '../../src/kernel/log/message.ts'
import { readConversation } from '../../src/replay/transcript.ts'
import { randomFrom } from '../history.ts'
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
  const files = (await readdir(folder)).filter((name) => name.endsWith('.jsonl')).sort()
  const found = new Map<string, Exchange>()
  for (const file of files) {
    const lines = (await readFile(join(folder, file), 'utf8')).split('\n')
    for (const [index, line] of lines.entries()) {
      if (line.trim() === '') continue
      // A conversation may be there in the formats of several providers.
      for (const exchange of exchangesIn(line, index + 1)) found.set(JSON.stringify(exchange), exchange)
    }
  }
  const all = [...found.values()]
  if (all.length === 0) throw new Error(`no exchanges in ${folder}`)
  return Array.from({ length: count }, (_, number) => all[number % all.length] as Exchange)
}

function exchangesIn(line: string, number: number): Exchange[] {
  const exchanges: Exchange[] = []
  let asked = ''
  for (const message of readConversation(line, number).messages) {
    const text = textOf(message)
    if (message.role === 'user') asked = text
    if (message.role !== 'assistant' || asked === '' || text.trim() === '') continue
    exchanges.push([asked, text])
    asked = ''
  }
  return exchanges
}

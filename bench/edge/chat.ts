import { median, quantile, round } from '../stats.ts'
import { exchangeAt } from '../stores/messages.ts'
import type { FakeModel } from './fake-model.ts'
import type { EdgeSubject } from './subjects.ts'

export interface ChatPlan {
  /** Replies asked for, of each kind. */
  readonly chats: number
  /** What the model takes until its first word, in milliseconds. */
  readonly delaysMs: readonly number[]
  /** Messages in the session at first. */
  readonly messages: number
}

/** Milliseconds until the first words of a reply: medians and 95th percentiles. */
export interface ChatRow {
  readonly subject: string
  readonly delayMs: number
  readonly chats: number
  /** Of the model itself, asked for the same. */
  readonly model: readonly [number, number]
  readonly chat: readonly [number, number]
  /** Median of what a chat takes longer than the model just before it. */
  readonly overMs: number
}

const MESSAGE_BYTES = [270, 490] as const
/** Laps before those that are measured, of each wait. */
const WARM_UP = 10
const SESSION = 'chats'

/**
 * Asks the edge for replies and the model for the same, one after the other. All subjects are asked
 * in the same way: waits do not mix, since after a long one all is slower for a while, and each lap
 * begins with another subject.
 */
export async function measureChat(
  subjects: readonly EdgeSubject[],
  model: FakeModel,
  { chats, delaysMs, messages }: ChatPlan,
): Promise<ChatRow[]> {
  for (const { fill } of subjects) await fill(SESSION, messages)
  const rows: ChatRow[] = []
  for (const delayMs of delaysMs) {
    model.delayMs = delayMs
    const cells = subjects.map((subject) => ({ subject, direct: [] as number[], chat: [] as number[] }))
    for (let lap = 0; lap < WARM_UP + chats; lap++) {
      const first = lap % cells.length
      for (const { subject, direct, chat } of [...cells.slice(first), ...cells.slice(0, first)]) {
        const chatMs = await chatWords(subject, lap)
        const directMs = await firstWords(`${model.url}/chat/completions`, model.last, '"content"')
        if (lap < WARM_UP) continue
        chat.push(chatMs)
        direct.push(directMs)
      }
    }
    for (const { subject, direct, chat } of cells)
      rows.push({
        subject: subject.name,
        delayMs,
        chats,
        model: middleAndHigh(direct),
        chat: middleAndHigh(chat),
        overMs: round(median(chat.map((ms, index) => ms - (direct[index] ?? 0)))),
      })
  }
  return rows
}

function chatWords({ port, headers }: EdgeSubject, number: number): Promise<number> {
  const [asked] = exchangeAt(number, MESSAGE_BYTES)
  return firstWords(
    `http://127.0.0.1:${port}/v1/sessions/${SESSION}/chat`,
    JSON.stringify({ message: asked?.content }),
    '"text-delta"',
    headers,
  )
}

/** Milliseconds until an answer's stream holds a text; the rest of it is waited for too. */
async function firstWords(
  url: string,
  body: string,
  words: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<number> {
  const start = performance.now()
  const answer = await fetch(url, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body,
  })
  const decoder = new TextDecoder()
  let ms: number | undefined
  let text = ''
  for await (const chunk of answer.body ?? []) {
    text += decoder.decode(chunk, { stream: true })
    if (text.includes(words)) ms ??= performance.now() - start
  }
  if (ms === undefined) throw new Error(`no reply from ${url}: ${answer.status} ${text.slice(0, 500)}`)
  return ms
}

function middleAndHigh(times: readonly number[]): [number, number] {
  return [round(median(times)), round(quantile(times, 0.95))]
}

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
const WARM_UP = 10

/** Asks the edge for replies and the model for the same, one after the other. */
export async function measureChat(
  subjects: readonly EdgeSubject[],
  model: FakeModel,
  { chats, delaysMs, messages }: ChatPlan,
): Promise<ChatRow[]> {
  const session = 'chats'
  for (const { fill } of subjects) await fill(session, messages)
  const cells = delaysMs.flatMap((delayMs) =>
    subjects.map((subject) => ({ subject, delayMs, direct: [] as number[], chat: [] as number[] })),
  )
  for (let lap = -WARM_UP; lap < chats; lap++)
    for (const { subject, delayMs, direct, chat } of cells) {
      model.delayMs = delayMs
      const [asked] = exchangeAt(lap + WARM_UP, MESSAGE_BYTES)
      const chatMs = await firstWords(
        `http://127.0.0.1:${subject.port}/v1/sessions/${session}/chat`,
        JSON.stringify({ message: asked?.content }),
        '"text-delta"',
        subject.headers,
      )
      const directMs = await firstWords(`${model.url}/chat/completions`, model.last, '"content"')
      if (lap < 0) continue
      chat.push(chatMs)
      direct.push(directMs)
    }
  return cells.map(({ subject, delayMs, direct, chat }) => ({
    subject: subject.name,
    delayMs,
    chats,
    model: middleAndHigh(direct),
    chat: middleAndHigh(chat),
    overMs: round(median(chat.map((ms, index) => ms - (direct[index] ?? 0)))),
  }))
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

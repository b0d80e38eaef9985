import { describe, expect, it } from 'vitest'
import { playFile } from '../../../web/race/own.ts'

const going = new AbortController().signal

function fileOf(...conversations: readonly number[]): File {
  const lines = conversations.map((length, id) => ({
    id: `c${id}`,
    messages: Array.from({ length }, (_, index) => ({
      role: index % 2 === 0 ? 'user' : 'assistant',
      content: `Message ${index}. ${'More words. '.repeat(8)}`,
    })),
  }))
  return new File([lines.map((line) => `${JSON.stringify(line)}\n`).join('')], 'mine.jsonl')
}

describe('a file that is dropped on the race', () => {
  it('is played by its longest conversation, under a line that this reaches', async () => {
    const own = await playFile(fileOf(4, 120, 20), going)
    expect([own?.messages, own?.played]).toEqual([120, 120])
    const { budget = 0, calls } = own?.bills ?? {}
    const most = calls?.full.at(-1)?.tokens ?? 0
    expect(most).toBeLessThan(16_000)
    expect(budget).toBe(Math.round(most / 300) * 100)
    expect(calls?.full).toHaveLength(60)
  })

  it('has a line of 1 000 tokens at least', async () => {
    expect((await playFile(fileOf(4), going))?.bills.budget).toBe(1_000)
  })

  it('is played by its first 1 000 messages', async () => {
    const own = await playFile(fileOf(1_010), going)
    expect([own?.messages, own?.played, own?.bills.calls.full.length]).toEqual([1_010, 1_000, 500])
  })

  it.each([
    ['[]'],
    ['not JSON'],
    [`${JSON.stringify({ id: 'c', messages: [{ role: 'user', content: 'Hello?' }] })}\n`],
  ])('is nothing where no model answers in it: %s', async (text) => {
    expect(await playFile(new File([text], 'mine.jsonl'), going)).toBe(undefined)
  })

  it('is no longer played when something newer is', async () => {
    const stopped = new AbortController()
    stopped.abort(new Error('another one'))
    await expect(playFile(fileOf(4), stopped.signal)).rejects.toThrow('another one')
  })
})

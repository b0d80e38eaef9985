import { expect, it } from 'vitest'
import { extractOf } from '../../src/features/compaction/extract.ts'
import type { Message } from '../../src/index.ts'

const count = (text: string): number => text.length
const message = (role: Message['role'], content: Message['content']): Message => ({
  id: 'm',
  role,
  content,
  createdAt: 0,
  trust: role,
})
const call = (name: string): Message =>
  message('assistant', [{ type: 'tool-call', id: 'a', name, input: {} }])
const rounds = [
  [message('user', 'Go. Now.'), message('assistant', 'I will. Done.')],
  [message('user', 'Find it.'), call('read'), call('read'), call('write')],
]

it('an extract follows the lines of the summary before, and says what was called where nothing was said', () => {
  expect(extractOf('User: Before.', rounds, 200, count)).toBe(
    'User: Before.\nUser: Go.\nAssistant: Done.\nUser: Find it.\nAssistant called read ×2, write.',
  )
})

it('an extract loses its oldest lines first, and shortens a last one that is too long by itself', () => {
  expect(extractOf('User: Before.', rounds, 50, count)).toBe(
    'User: Find it.\nAssistant called read ×2, write.',
  )
  expect(extractOf('', [[message('user', 'word '.repeat(40))]], 30, count).length).toBeGreaterThan(10)
  expect(extractOf('', [[message('user', 'word '.repeat(40))]], 30, count).length).toBeLessThanOrEqual(30)
})

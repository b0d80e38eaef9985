/** A conversation as ChatGPT exports it: a tree, of which one branch is current. */
const node = (id: string, parent: string | null, children: readonly string[], message?: object) => ({
  id,
  parent,
  children,
  message: message ?? null,
})

const says = (role: string, text: string, more: object = {}) => ({
  id: `m-${text}`,
  author: { role },
  create_time: 1_760_000_000.5,
  content: { content_type: 'text', parts: [text] },
  recipient: 'all',
  ...more,
})

const thoughts = { content_type: 'thoughts', thoughts: [{ summary: 'Tea', content: 'Which tea?' }] }

/**
 * Hi, a call and its result, a thought, and the answer; and another answer, on a branch of its own.
 */
export const chatGPT = {
  title: 'Tea',
  conversation_id: 'c-1',
  current_node: 'e',
  mapping: {
    root: node('root', null, ['a']),
    a: node('a', 'root', ['b', 'x'], says('user', 'Hi')),
    x: node('x', 'a', [], says('assistant', 'Another branch')),
    b: node('b', 'a', ['c'], says('assistant', 'lookup()', { recipient: 'browser' })),
    c: node('c', 'b', ['d'], says('tool', 'Found tea', { author: { role: 'tool', name: 'browser' } })),
    d: node('d', 'c', ['e'], says('assistant', 'thinking', { content: thoughts })),
    e: node('e', 'd', [], says('assistant', 'Green tea.')),
  },
}

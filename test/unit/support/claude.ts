const FIRST = '00000000-0000-4000-8000-000000000000'
const at = (second: number) => `2026-10-01T08:00:0${second}.000000Z`
const text = (words: string) => ({ type: 'text', text: words })

/**
 * A conversation as Claude exports it: a question with files, a call, and an answer given twice.
 */
export const claude = {
  uuid: 'c-9',
  name: 'Trains',
  created_at: at(0),
  account: { uuid: 'a-1' },
  current_leaf_message_uuid: 'm-2',
  chat_messages: [
    {
      uuid: 'm-1',
      sender: 'human',
      text: 'When does it leave?',
      content: [text('When does it leave?')],
      created_at: at(1),
      attachments: [{ file_name: 'plan.txt', file_size: 9, extracted_content: 'By train.' }],
      files: [{ file_name: 'map.png' }],
      parent_message_uuid: FIRST,
    },
    {
      uuid: 'm-2',
      sender: 'assistant',
      text: 'At 9:40.',
      content: [
        { type: 'thinking', thinking: 'Look it up.' },
        { type: 'tool_use', id: 't1', name: 'timetable', input: { to: 'Turin' } },
        { type: 'tool_result', tool_use_id: 't1', content: [text('9:40')], is_error: false },
        text('At 9:40.'),
      ],
      created_at: at(2),
      attachments: [],
      files: [],
      parent_message_uuid: 'm-1',
    },
    {
      uuid: 'm-3',
      sender: 'assistant',
      text: 'I do not know.',
      content: [],
      created_at: at(3),
      attachments: [],
      files: [],
      parent_message_uuid: 'm-1',
    },
  ],
}

/** A widget, and how it is used. */
export interface Subject {
  readonly name: string
  /** Of `subjects/`. */
  readonly folder: string
  /** Where its messages are, and what it does with many of them. */
  readonly about: string
  /** A page of its own, of `subjects/`, that puts them there before. */
  readonly fill?: string
  /** Whether its page has the widget by one script tag, as it is built; else it is bundled. */
  readonly isTag?: true
  /** Whether it opens so soon that one visit of a round says little. */
  readonly isQuick?: true
}

export const OURS = 'plimsoll-chat, one tag'
export const PACKAGE = 'plimsoll-chat, plimsoll-tag'
export const PAGED = 'deep-chat, loadHistory'

export const SUBJECTS: readonly Subject[] = [
  {
    name: OURS,
    folder: 'plimsoll-tag',
    isTag: true,
    about:
      'the messages are in IndexedDB, and it reads pages of them; only what is near the screen is mounted',
    fill: 'plimsoll/fill.html',
    isQuick: true,
  },
  {
    name: PACKAGE,
    folder: 'plimsoll-package',
    about: 'the same files as a package, bundled by Vite',
    fill: 'plimsoll/fill.html',
    isQuick: true,
  },
  {
    name: 'plimsoll-chat, plimsoll/chat',
    folder: 'plimsoll',
    about: 'the modules of the library, bundled by Vite: in more files',
    fill: 'plimsoll/fill.html',
    isQuick: true,
  },
  {
    name: 'assistant-ui, virtual rows',
    folder: 'assistant-ui-virtual',
    about: 'an array of all messages; rows by @tanstack/react-virtual, as its guide on long threads has it',
  },
  {
    name: 'assistant-ui',
    folder: 'assistant-ui',
    about: 'an array of all messages; all of them mounted, as its thread comes',
  },
  {
    name: PAGED,
    folder: 'deep-chat-pages',
    isQuick: true,
    about: 'pages of 50, made when it asks for them as the reader comes to the top',
  },
  {
    name: 'deep-chat, history',
    folder: 'deep-chat',
    about: 'an array of all messages; all of them mounted, with maxVisibleMessages raised to 10 000',
  },
]

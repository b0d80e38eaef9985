import type { Bench } from './bench.ts'

/** The suites, by name. */
export const benches: Readonly<Record<string, { about: string; load: () => Promise<{ bench: Bench }> }>> = {
  'ai-sdk': {
    about: 'the tool loop of the AI SDK over recordings: cap, rules and cost, beside its pruneMessages',
    load: () => import('./ai-sdk.ts'),
  },
  context: {
    about: 'time of a context, 100 to 1,000,000 messages, and broken pairs, beside the peers',
    load: () => import('./context.ts'),
  },
  edge: {
    about: 'calls through the whole edge in workerd, beside a raw worker; its chats, counts and size',
    load: () => import('./edge.ts'),
  },
  encrypted: {
    about: 'calls over the store that encrypts, in workerd and in Chromium, beside the same in the clear',
    load: () => import('./encrypted.ts'),
  },
  held: {
    about: 'what a message holds in the map store, and what a session that idled reads and holds',
    load: () => import('./held.ts'),
  },
  langgraph: {
    about: 'bytes, rows and time of a turn in a long thread of LangGraph, beside its own savers',
    load: () => import('./langgraph.ts'),
  },
  loops: {
    about: 'the loops of other libraries over recordings: cap, rules and cost, beside their own trimming',
    load: () => import('./loops.ts'),
  },
  optimum: {
    about: 'cost of windows beside the least that one could have cost: ours and the peers’, at three floors',
    load: () => import('./optimum.ts'),
  },
  picture: {
    about: 'the picture and table of the race over the longest recorded session of a coding agent',
    load: () => import('./picture.ts'),
  },
  recall: {
    about: 'what recall finds of LoCoMo and of recordings, speed, memory and size, beside MiniSearch',
    load: () => import('./recall.ts'),
  },
  shown: {
    about: 'what recall shows a model of chats with questions, beside BM25 over whole messages',
    load: () => import('./shown.ts'),
  },
  size: {
    about: 'what a browser downloads, beside the peers',
    load: () => import('./size.ts'),
  },
  stores: {
    about: 'calls of the stores on disk, in workerd and in Chromium, beside the peers',
    load: () => import('./stores.ts'),
  },
  sync: {
    about:
      'offline exchanges sent and fetched by a second device, and a change on two screens, beside the peers',
    load: () => import('./sync.ts'),
  },
  tokens: {
    about: 'speed, exactness, growth, accuracy, memory and size of the token counters, beside the peers',
    load: () => import('./tokens.ts'),
  },
  widgets: {
    about: 'chat widgets with 10,000 messages: what they load, time to open, memory, beside the peers',
    load: () => import('./widgets.ts'),
  },
}

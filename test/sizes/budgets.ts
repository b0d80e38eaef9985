import type { Program } from './bundle.ts'

/** What a page may download of an entry, at most. */
export interface Budget extends Program {
  /**
   * Of what is loaded at first, gzip -9: tests hold it. Who raises one says in the change log what
   * the page gets for it.
   */
  readonly mostKiB: number
  /** What it is meant to become, where it is more now: the bench shows it as missed. */
  readonly goalKiB?: number
}

export const BUDGETS: readonly Budget[] = [
  {
    name: 'plimsoll createMemory',
    code: `export { createMemory } from 'plimsoll'`,
    mostKiB: 30,
    goalKiB: 24,
  },
  {
    name: 'plimsoll createMemory, mapStore, toOpenAI',
    code: `export { createMemory, mapStore, toOpenAI } from 'plimsoll'`,
    mostKiB: 33.9,
    goalKiB: 28,
  },
  {
    name: 'plimsoll createMemory, standard',
    code: `export { createMemory, standard } from 'plimsoll'`,
    mostKiB: 61.8,
    goalKiB: 50,
  },
  {
    name: 'plimsoll createMemory, standard, toOpenAI, and plimsoll/dexie with Dexie',
    code: `export { createMemory, standard, toOpenAI } from 'plimsoll'; export { dexieStore } from 'plimsoll/dexie'`,
    splits: true,
    mostKiB: 106.8,
    goalKiB: 92,
  },
  {
    name: 'the default counter',
    code: `export { defaultCounter } from '../../src/counters/default.ts'`,
    from: import.meta.dirname,
    mostKiB: 2,
  },
  {
    name: 'plimsoll/sync, httpTransport',
    code: `export { httpTransport, sync } from 'plimsoll/sync'`,
    mostKiB: 24.7,
  },
  {
    name: 'plimsoll/sync, httpTransport, for a page that has createMemory and plimsoll/dexie',
    code: `export { httpTransport, sync } from 'plimsoll/sync'`,
    beside: `export { createMemory } from 'plimsoll'; export { dexieStore } from 'plimsoll/dexie'`,
    mostKiB: 19.6,
    goalKiB: 8,
  },
  {
    name: 'plimsoll/sync, httpTransport, keepLocal, for a page that has createMemory and plimsoll/dexie',
    code: `export { httpTransport, keepLocal, sync } from 'plimsoll/sync'`,
    beside: `export { createMemory } from 'plimsoll'; export { dexieStore } from 'plimsoll/dexie'`,
    mostKiB: 21.9,
  },
  {
    name: 'plimsoll/langchain, for a program that has createMemory and mapStore',
    code: `export { PlimsollChatHistory } from '../../src/bridges/langchain/index.ts'`,
    from: import.meta.dirname,
    external: ['chat_history', 'messages', 'runnables', 'utils/function_calling'].map(
      (name) => `@langchain/core/${name}`,
    ),
    beside: `export { createMemory, mapStore } from 'plimsoll'`,
    mostKiB: 6.9,
  },
  {
    name: 'plimsoll/assistant-ui, for a program that has createMemory and mapStore',
    code: `export { plimsollHistory } from '../../src/bridges/assistant-ui/index.ts'`,
    from: import.meta.dirname,
    beside: `export { createMemory, mapStore } from 'plimsoll'`,
    mostKiB: 6.7,
  },
  {
    name: 'plimsoll/openai-agents, for a program that has createMemory and mapStore',
    code: `export { PlimsollSession } from '../../src/bridges/openai-agents/index.ts'`,
    from: import.meta.dirname,
    beside: `export { createMemory, mapStore } from 'plimsoll'`,
    mostKiB: 8.9,
  },
  { name: 'plimsoll/client', code: `export { createClient } from 'plimsoll/client'`, mostKiB: 6.5 },
]

/** The widget by one tag, in bytes, gzip -9. */
export const TAG_BUDGET = {
  /** Until a conversation of this browser shows. */
  firstLook: 53_350,
  /** With the memory, and what answers in the browser. */
  answering: 119_990,
  /** Until a conversation of an edge shows. */
  edge: 49_250,
}

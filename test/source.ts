import { resolve } from 'node:path'

const sources: Readonly<Record<string, string>> = {
  plimsoll: 'index.ts',
  'plimsoll/ai-sdk': 'bridges/ai-sdk/index.ts',
  'plimsoll/chat': 'chat/index.ts',
  'plimsoll/chat/define': 'chat/define.ts',
  'plimsoll/cloudflare': 'edge/cloudflare.ts',
  'plimsoll/dexie': 'stores/dexie.ts',
  'plimsoll/durable-object': 'durable-object.ts',
  'plimsoll/hono': 'edge/hono.ts',
  'plimsoll/langgraph': 'bridges/langgraph/index.ts',
  'plimsoll/openai-agents': 'bridges/openai-agents/index.ts',
  'plimsoll/assistant-ui': 'bridges/assistant-ui/index.ts',
  'plimsoll/anthropic': 'bridges/anthropic/index.ts',
  'plimsoll/langchain': 'bridges/langchain/index.ts',
  'plimsoll/models': 'edge/models/index.ts',
  'plimsoll/react': 'bridges/react.ts',
  'plimsoll/sqlite': 'stores/sqlite.ts',
  'plimsoll/sync': 'sync/index.ts',
  'plimsoll/testing': '../test/contract/index.ts',
  'plimsoll/vue': 'bridges/vue.ts',
}

/**
 * Examples import the library by its name, as apps do. In tests that is the source, so nothing need
 * be built before.
 */
export const source = {
  alias: Object.entries(sources).map(([name, file]) => ({
    find: new RegExp(`^${name}$`),
    replacement: resolve(import.meta.dirname, '../src', file),
  })),
}

/** Libraries of the browser tests, those that are loaded on demand among them. */
export const optimized = [
  ...['dexie', 'stemmer', 'axe-core', 'marked', 'lit'],
  ...['react', 'react-dom/client', 'react-dom/server', 'vue'],
  ...['html.js', 'directive.js', 'async-directive.js', 'directives/repeat.js', 'directives/guard.js'].map(
    (file) => `lit/${file}`,
  ),
  ...['core', 'languages/typescript', 'languages/xml'].map((file) => `highlight.js/lib/${file}`),
]

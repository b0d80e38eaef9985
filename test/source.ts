import { resolve } from 'node:path'

const sources: Readonly<Record<string, string>> = {
  plimsoll: 'index.ts',
  'plimsoll/ai-sdk': 'ai-sdk/index.ts',
  'plimsoll/cloudflare': 'edge/cloudflare.ts',
  'plimsoll/durable-object': 'durable-object.ts',
  'plimsoll/hono': 'edge/hono.ts',
  'plimsoll/models': 'edge/models/index.ts',
}

/** Examples import the library by its name, as apps do. In tests that is the source, so nothing need be built before. */
export const source = {
  alias: Object.entries(sources).map(([name, file]) => ({
    find: new RegExp(`^${name}$`),
    replacement: resolve(import.meta.dirname, '../src', file),
  })),
}

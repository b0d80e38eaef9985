import { fileURLToPath } from 'node:url'
import { type Bundle, bundle, type Program } from '../bundle.ts'
import { round } from '../stats.ts'

export interface EdgeSize extends Bundle {
  readonly name: string
  /** Beside the one before it, of a Worker that is put together part by part. */
  readonly addsKiB?: number
}

const worker = fileURLToPath(new URL('../../worker/index.ts', import.meta.url))
/** As in `wrangler.toml`. */
const zod = fileURLToPath(new URL('../../worker/zod.ts', import.meta.url))
const ALIAS = { zod, 'zod/v4': zod }
const CONDITIONS = ['workerd', 'worker', 'browser']
const EXTERNAL = ['cloudflare:*', 'node:*']

export const FULL = 'worker/index.ts, all of it'
const ALONE: Program = {
  name: 'the memory alone: durableObjectMemory, standard, recall, englishStemmer, extraction',
  code: `export { durableObjectMemory } from 'plimsoll/durable-object'
export { extraction, recall, standard } from 'plimsoll'
export { englishStemmer } from 'plimsoll/stemmer'`,
}

/** Parts of the Worker, in the order in which they are added to what is left without them. */
const PARTS: readonly { readonly name: string; readonly paths: readonly string[] }[] = [
  { name: '+ chat', paths: ['edge/turn/', 'bridges/ai-sdk/'] },
  { name: '+ OpenAI door', paths: ['edge/turn/completions/', 'edge/app/routes/openai.ts'] },
  { name: '+ MCP', paths: ['bridges/mcp/', 'edge/app/routes/mcp.ts'] },
  { name: FULL, paths: ['edge/models/'] },
]

const CLIENTS: readonly Program[] = [
  { name: 'plimsoll/client createClient', code: `export { createClient } from 'plimsoll/client'` },
  { name: 'plimsoll/mcp, all of it', code: `export * from 'plimsoll/mcp'` },
]

export async function measureSizes(): Promise<EdgeSize[]> {
  const code = `export { default, SessionObject, UserObject } from ${JSON.stringify(worker)}`
  const steps: Program[] = [
    ALONE,
    ...[{ name: '+ objects, app, auth', paths: [] }, ...PARTS].map(({ name }, index) => ({
      name,
      code,
      alias: ALIAS,
      without: PARTS.slice(index).flatMap(({ paths }) => paths),
    })),
  ]
  const sizes: EdgeSize[] = []
  for (const step of steps) {
    const made = await bundle({ ...step, conditions: CONDITIONS, external: EXTERNAL })
    const before = sizes.at(-1)?.gzipKiB
    sizes.push({
      name: step.name,
      ...made,
      ...(before !== undefined && { addsKiB: round(made.gzipKiB - before) }),
    })
  }
  for (const program of CLIENTS) sizes.push({ name: program.name, ...(await bundle(program)) })
  return sizes
}

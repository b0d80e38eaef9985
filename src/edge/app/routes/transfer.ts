import type { OpenAPIHono } from '@hono/zod-openapi'
import { z } from '@hono/zod-openapi'
import { checkParts } from '../../../operations/transfer/export-options.ts'
import { answer } from '../../objects/answer.ts'
import type { AppEnv } from '../app-env.ts'
import { checkType, readChunks } from '../body.ts'
import { endpoint } from '../endpoint.ts'
import { livingScope, userScope } from '../objects.ts'
import { schemas } from '../schemas.ts'
import { exportStream, importChunks } from '../transfer.ts'

const LINES = 'application/jsonl'
const part = z.object({ written: z.number(), there: z.number() })
const lines = z.array(z.object({ line: z.number(), reason: z.string() }))
const imported = z
  .object({
    parts: z.object({ log: part, facts: part, profile: part, checkpoint: part }),
    messages: part,
    conflicts: z.object({
      count: z.number(),
      first: z.array(
        z.object({ part: z.string(), key: z.string().optional(), session_id: z.string().optional() }),
      ),
    }),
    skipped: z.object({
      count: z.number(),
      first: lines,
    }),
    lowered: z.object({ count: z.number(), first: lines }),
  })
  .openapi('Imported')

/** All that is stored of the caller, out and in. */
export function transferRoutes(app: OpenAPIHono<AppEnv>): void {
  endpoint(
    app,
    {
      id: 'exportMe',
      method: 'get',
      path: '/v1/me/export',
      summary:
        'All that is stored of the caller, as JSON lines; without its last line, of type `end`, it is not whole',
      query: schemas.exportQuery,
      media: { answer: LINES },
    },
    async ({ context, principal, query: { parts } }) => {
      const stream = await exportStream(
        context.get('settings'),
        await livingScope(context.get('settings'), principal),
        checkParts('export', parts),
      )
      return new Response(stream, {
        headers: {
          'Content-Type': `${LINES}; charset=utf-8`,
          'Content-Disposition': 'attachment; filename="memory.jsonl"',
          'Cache-Control': 'no-store',
        },
      })
    },
  )
  endpoint(
    app,
    {
      id: 'importMe',
      method: 'post',
      path: '/v1/me/import',
      isKeyed: false,
      summary:
        'Imports what an export gave, line by line of at most 1 MiB; repeating it goes on where it ended',
      query: schemas.importQuery,
      media: { body: LINES },
      answer: imported,
    },
    async ({ context, principal, query: { trust = 'import' } }) => {
      checkType(context.req.raw, LINES, 'application/x-ndjson')
      return answer(
        await importChunks(context.get('settings'), userScope(principal), readChunks(context.req.raw), trust),
      )
    },
  )
}

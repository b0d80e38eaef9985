import type { OpenAPIHono } from '@hono/zod-openapi'
import { z } from '@hono/zod-openapi'
import { webHost } from '../../../platform/web.ts'
import { isPlimsollError } from '../../../ports/errors.ts'
import { answer } from '../../objects/answer.ts'
import { DEPLOYMENT } from '../../objects/deployment-name.ts'
import type { DeploymentObject } from '../../objects/deployment-object.ts'
import { callObject } from '../../replica/call-object.ts'
import type { PartState } from '../../rows/part-health.ts'
import type { AppEnv } from '../app-env.ts'
import { endpoint } from '../endpoint.ts'
import { asPlimsollError } from '../problem.ts'
import type { AppSettings } from '../settings.ts'

const part = z.object({
  status: z.enum(['ok', 'failing']),
  code: z.string().optional(),
  at: z.number().optional(),
})
const ready = z
  .object({ status: z.enum(['ready', 'failing']), parts: z.record(z.string(), part) })
  .openapi('Ready', { example: { status: 'ready', parts: { settings: { status: 'ok' } } } })

/** For how long an answer holds: anybody may ask, and one object knows. */
const HOLDS_MS = 2_000

interface Parts {
  readonly [name: string]: PartState
}

/** Whether the edge can do all that it is there for. */
export function readyRoutes(app: OpenAPIHono<AppEnv>): void {
  const known = new WeakMap<AppSettings, { readonly at: number; readonly parts: Parts }>()
  endpoint(
    app,
    {
      id: 'ready',
      method: 'get',
      path: '/health/ready',
      summary:
        'Whether all of it works: settings, objects, and what failed lately of model, alarms and queues. 503: not all of it',
      answer: ready,
      refusal: ready,
      isOpen: true,
    },
    async ({ context }) => {
      const settings = context.get('settings')
      const held = known.get(settings)
      const now = webHost.now()
      const isHeld = held !== undefined && Math.abs(now - held.at) < HOLDS_MS
      const parts = isHeld ? held.parts : await partsOf(settings, context.req.raw)
      if (!isHeld) known.set(settings, { at: now, parts })
      const isReady = Object.values(parts).every(({ status }) => status === 'ok')
      const { json } = answer({ status: isReady ? 'ready' : 'failing', parts })
      return new Response(json, {
        status: isReady ? 200 : 503,
        headers: { 'Content-Type': 'application/json' },
      })
    },
  )
}

async function partsOf(settings: AppSettings, request: Request): Promise<Parts> {
  const { DEPLOYMENT: deployments } = settings.objects
  const known = deployments && {
    ...(await attempt('objects', async () => {
      const stub = (): DurableObjectStub<DeploymentObject> => deployments.getByName(DEPLOYMENT)
      const { model, alarm, queue } = await callObject(stub, webHost, 'ready', (object) => object.health())
      return { model, alarm, queue }
    })),
  }
  return { ...(await attempt('settings', () => checkSettings(settings, request))), ...known }
}

/** Asks as somebody without a token would: where nobody can be let in, that fails. */
async function checkSettings({ authenticate }: AppSettings, { url, headers }: Request): Promise<undefined> {
  const bare = new Headers(headers)
  for (const name of ['Authorization', 'Cookie', 'Upgrade']) bare.delete(name)
  try {
    await authenticate(new Request(url, { headers: bare }))
  } catch (error) {
    if (isPlimsollError(error, 'ERR_NOT_CONFIGURED')) throw error
  }
}

async function attempt(name: string, check: () => Promise<Parts | undefined>): Promise<Parts> {
  try {
    return { [name]: { status: 'ok' }, ...(await check()) }
  } catch (error) {
    return { [name]: { status: 'failing', code: asPlimsollError(error).code, at: webHost.now() } }
  }
}

/**
 * An app of your own around the edge: its objects with your model and your tools, its HTTP API
 * beside your own routes, and your own way of knowing who calls.
 */
import { Hono } from 'hono'
import { type AgentTool, memoryTools, recall, standard } from 'plimsoll'
import {
  type EdgeBindings,
  SessionObject,
  type SessionSettings,
  UserObject,
  type UserSettings,
} from 'plimsoll/cloudflare'
import { createApp, type Principal } from 'plimsoll/hono'
import { clerk } from './clerk.ts'
import { nextTrain } from './timetable.ts'

export type Env = EdgeBindings

/** What the agent may look up, beside its memory. */
const timetable: AgentTool<{ readonly to: string }> = {
  name: 'timetable',
  description: 'The next train to a town.',
  inputSchema: {
    type: 'object',
    properties: { to: { type: 'string', maxLength: 80 } },
    required: ['to'],
    additionalProperties: false,
  },
  execute: ({ to }) => nextTrain(to),
}

/** Bound as `SESSIONS`: one object a conversation. */
export class TripSession extends SessionObject<Env> {
  protected settings(): SessionSettings {
    return {
      memory: {
        system: 'You sell train tickets. Answer briefly.',
        budget: { contextWindow: 8_000, maxOutputTokens: 500 },
        use: [...standard(), recall()],
      },
      // In an app of yours: `(parts) => modelOf(this.env, parts)` of plimsoll/models, or
      // `aiSdkModel(…)` over any provider of the AI SDK.
      model: clerk,
      tools: (session) => [...memoryTools(session), timetable],
      maxSteps: 4,
      budgets: { appendsPerMinute: 120 },
    }
  }
}

/** Bound as `USERS`: one object a user, with what all of the user's conversations share. */
export class TripUser extends UserObject<Env> {
  protected settings(): UserSettings {
    return {
      memory: { budget: 8_000, use: [...standard({ facts: { caps: { facts: 200 } } }), recall()] },
      budgets: { sessionsPerHour: 20 },
    }
  }
}

/** Stands for what your app knows of who has signed in. */
const signedIn: ReadonlyMap<string, Principal> = new Map([
  ['ticket-of-ada', { tenant: 'rail', userId: 'ada' }],
  ['ticket-of-bob', { tenant: 'rail', userId: 'bob' }],
])

async function whoIs(request: Request): Promise<Principal | undefined> {
  const ticket = request.headers.get('Cookie')?.match(/(?:^|; )ticket=([\w-]+)/)?.[1]
  return ticket === undefined ? undefined : signedIn.get(ticket)
}

const app = new Hono<{ Bindings: Env }>()

app.get('/trains/:town', (context) => context.json(nextTrain(context.req.param('town'))))

app.route(
  '/memory',
  createApp((env: Env) => ({ objects: env, authenticate: whoIs })),
)

export default app

/** The same for blocks that run in a Worker. */
import type { AgentTool } from 'plimsoll'
import type { EdgeBindings } from 'plimsoll/cloudflare'
import type { Authenticate } from 'plimsoll/hono'
import type { ModelEnv } from 'plimsoll/models'

export type Env = EdgeBindings & ModelEnv
export const nextTrain = (town: string): object => ({ to: town, leaves: '9:40' })
export const timetable: AgentTool = {
  name: 'timetable',
  inputSchema: { type: 'object' },
  execute: () => nextTrain('Turin'),
}
export const whoIs: Authenticate = async () => ({ userId: 'ada' })

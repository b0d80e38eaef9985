export { type AgentRequest, toAgentItems } from './context-items.ts'
export { type AgentContextOptions, PlimsollSession } from './session.ts'

import { describeAgent } from '../everywhere/agent.ts'

describeAgent((signal) => new Request('https://example.com', { signal: signal as AbortSignal }))

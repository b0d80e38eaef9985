import { sessionStartGuide } from '../../agent/session-start-guide.ts'
import { START_URI } from './start-resource.ts'

/** Instructions for a client's model, unless the app gives its own. */
export const instructions = `${sessionStartGuide}
What is remembered already is in the resource ${START_URI}: read it first.`

export const guidePrompt = {
  name: 'memory_guide',
  title: 'How to use the memory',
  description: 'Tells a model how to use these tools, for clients that do not show it the instructions.',
}

export const guide = {
  description: 'How to use the memory',
  messages: [{ role: 'user', content: { type: 'text', text: sessionStartGuide } }],
}

import { readFileSync } from 'node:fs'

export const user = (content: string) => ({ role: 'user', content })
export const assistant = (content: string) => ({ role: 'assistant', content })

/** By the classic estimate these are 11, 7, 8, 11 and 7 tokens. */
export const calculator = {
  id: 'calculator',
  format: 'openai',
  messages: [
    { role: 'system', content: 'You are a careful calculator.' },
    user('What is 1+2?'),
    assistant('The answer is 3.'),
    user('And what is 10 plus 20 plus 30?'),
    assistant('The sum is 60.'),
  ],
}

/** A file of the checkout. */
export function checkout(path: string): string {
  return readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8')
}

/** The sample conversation: 35 calls. */
export const trip = { 'trip.jsonl': checkout('examples/trip.jsonl') }
export const TRIP_CALLS = 35

/** What docs/cli.md shows below a command, which is printed there from the checkout. */
export function documented(command: string): string {
  const [, shown] = checkout('docs/cli.md').split(`\`\`\`sh\n${command}\n\`\`\`\n\n\`\`\`\n`)
  if (shown === undefined) throw new Error(`docs/cli.md does not show "${command}"`)
  return shown.slice(0, shown.indexOf('```'))
}

import { expect, it } from 'vitest'
import { twoTier } from '../../examples/two-tier-run.ts'
import type { Store } from '../../src/index.ts'

const story = [
  'Monday, the run ends early: the power went out.',
  'Another process goes on with it: Yes, it has one.',
  '  remembered: constraint [user] Never book a flight.',
  '  remembered: finding [assistant] The 9:40 to Turin has a restaurant car.',
  '60 rounds on: 1082 of 2000 tokens; 60 messages left the window, none the log.',
  'Tuesday, a new session: 2 facts, pinned: Never book a flight.',
  'Its instructions hold what Ada said: true',
  'What the model noted stays on Monday: true',
]

/** The example "two tiers": the same lines over every store. */
export function describeTwoTier(name: string, open: () => Store): void {
  it(`the two tiers over ${name} are told line by line as everywhere else`, async () => {
    const lines: string[] = []
    let ids = 0
    const host = { clock: () => 1_700_000_000_000, newId: () => `id-${ids++}` }
    await twoTier({ store: open(), ...host }, (line) => lines.push(line))
    expect(lines).toEqual(story)
  })
}

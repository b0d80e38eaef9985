import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Context, charsPerToken, type Store } from '../../../src/index.ts'

/** The classic estimate: four characters a token. */
export const classic = charsPerToken(4)

export const ADA = { userId: 'ada' }

export function exchange(n: number) {
  return [
    { role: 'user' as const, content: `q${n}` },
    { role: 'assistant' as const, content: `a${n}` },
  ]
}

/** A step of an agent: one call, with its result. */
export function step(n: number, output: string) {
  return [
    {
      role: 'assistant' as const,
      content: [{ type: 'tool-call' as const, id: `c${n}`, name: 'look', input: { n } }],
    },
    {
      role: 'tool' as const,
      content: [{ type: 'tool-result' as const, callId: `c${n}`, output }],
    },
  ]
}

/** All that a store holds, as one text. */
export async function storedText(store: Store): Promise<string> {
  const rows: unknown[] = []
  for (const scope of await store.scopes()) {
    const held = store.open(scope)
    rows.push((await held.changesSince(0)).rows, await held.registers(''))
  }
  return JSON.stringify(rows)
}

/** The texts of a context's window. */
export function windowTexts({ blocks }: Context): readonly string[] {
  return blocks
    .filter(({ section }) => section === 'window')
    .map(({ parts }) => parts.map((part) => ('text' in part ? part.text : part.type)).join(''))
}

/** The path of a database that is not there yet. */
export function databasePath(): string {
  return join(mkdtempSync(join(tmpdir(), 'plimsoll-')), 'memory.sqlite')
}

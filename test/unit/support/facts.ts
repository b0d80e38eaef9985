import { Facts, type FactsParts } from '../../../src/features/facts/facts.ts'
import type { FactInput } from '../../../src/ports/fact.ts'
import type { Host } from '../../../src/ports/host.ts'
import type { Trust } from '../../../src/ports/message.ts'
import type { ScopeStore } from '../../../src/ports/store.ts'
import { mapStore } from '../../../src/stores/map.ts'

export const DAY = 86_400_000
/** Noon of a day. */
export const NOON = 20_000 * DAY + DAY / 2

export interface Bench extends FactsParts {
  readonly facts: Facts
  readonly clock: { now: number }
  /** Trust of each message that there is. */
  readonly messages: Map<string, Trust>
}

/** The facts of a scope that begins empty, over a clock that stands still. */
export function bench({ store = openScope(), ...given }: Partial<FactsParts> = {}): Bench {
  const clock = { now: NOON }
  const messages = new Map<string, Trust>()
  const parts: FactsParts = {
    store,
    host: hostOf(clock),
    tokensOf: ({ text }) => text.length,
    counter: 'characters',
    trustOf: async (id) => messages.get(id),
    ...given,
  }
  return { ...parts, facts: new Facts(parts), clock, messages }
}

export function openScope(): ScopeStore {
  return mapStore().open({ userId: 'ada', sessionId: 'trip' })
}

let ids = 0

function hostOf(clock: { readonly now: number }): Host {
  const unused = (): never => {
    throw new Error('facts wait for nothing')
  }
  return {
    now: () => clock.now,
    newSecret: () => '5'.repeat(64),
    newId: () => `id-${String(++ids).padStart(8, '0')}`,
    timeout: unused,
    controller: unused,
  }
}

export function finding(text: string, more: Partial<FactInput> = {}): FactInput {
  return { kind: 'finding', text, ...more }
}

import { NAMED } from '../../operations/forget/certificate.ts'
import type { Certificate, RemovedKind } from '../../ports/certificate.ts'
import { PlimsollError } from '../../ports/errors.ts'
import type { MemoryPanelModel } from '../ports.ts'

/** How each export begins. */
const BEGIN = '{"type":"export"'

/**
 * What is remembered in several homes, as one. Profile and skills are those of the last one, which
 * new sessions are made in.
 */
export function allPanels(panels: readonly MemoryPanelModel[]): MemoryPanelModel {
  const main = panels.at(-1)
  if (!main)
    throw new PlimsollError('ERR_INVALID_ARGUMENT', 'memory: panels must not be empty', {
      argument: 'panels',
    })
  if (panels.length === 1) return main
  const ownerOf = async (factId: string): Promise<MemoryPanelModel> => {
    for (const panel of panels) if ((await panel.facts()).some(({ id }) => id === factId)) return panel
    return main
  }
  return {
    ...main,
    facts: async (options) => (await Promise.all(panels.map((panel) => panel.facts(options)))).flat(),
    edit: async (factId, change) => (await ownerOf(factId)).edit(factId, change),
    pin: async (factId, pinned) => (await ownerOf(factId)).pin(factId, pinned),
    promote: async (factId) => (await ownerOf(factId)).promote(factId),
    forget: async (factId) => (await ownerOf(factId)).forget(factId),
    async *export() {
      for (const panel of panels) yield* panel.export()
    },
    async import(lines) {
      const sum = { messages: 0, facts: 0 }
      for await (const file of files(lines)) {
        const { messages, facts } = await main.import(file)
        sum.messages += messages
        sum.facts += facts
      }
      return sum
    },
    async eraseAll() {
      const certificates: Certificate[] = []
      for (const panel of panels) certificates.push(await panel.eraseAll())
      return certificates.reduce(together)
    },
  }
}

/** What was removed in two places, and who holds it no more in both of them. */
function together(one: Certificate, other: Certificate): Certificate {
  const removed = Object.fromEntries(
    Object.entries(one.removed).map(([kind, { count, first }]) => {
      const more = other.removed[kind as RemovedKind]
      return [kind, { count: count + more.count, first: [...first, ...more.first].slice(0, NAMED) }]
    }),
  ) as unknown as Certificate['removed']
  return {
    ...other,
    already: one.already && other.already,
    removed,
    confirmed: one.confirmed.filter((holder) => other.confirmed.includes(holder)),
    pending: [...new Set([...one.pending, ...other.pending])],
  }
}

/** The exports of several homes, one after the other. */
async function* files(lines: AsyncIterable<string>): AsyncGenerator<AsyncIterable<string>> {
  let file: string[] = []
  const whole = async function* (given: readonly string[]): AsyncGenerator<string> {
    yield* given
  }
  for await (const line of lines) {
    if (line.startsWith(BEGIN) && file.length > 0) {
      yield whole(file)
      file = []
    }
    file.push(line)
  }
  if (file.length > 0) yield whole(file)
}

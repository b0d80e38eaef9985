import { PlimsollError } from '../../ports/errors.ts'
import type { HomeCertificate, HomeKind, HomeMemory, MemoryPanelModel } from '../ports.ts'
import { matching } from './panel-facts.ts'
import { together } from './together.ts'

/**
 * What is remembered in several homes, as one. Profile and skills are those of the last one, which
 * new sessions are made in. What one home exports is a file of its own, and goes where the person
 * says: what was kept on a device does not reach a service by itself.
 *
 * @param homes those that hold something
 * @param destinations those that an import may go to
 * @param open contract: gives the memory of one of `destinations`
 */
export function allPanels(
  homes: readonly { readonly kind: HomeKind; readonly memory: HomeMemory }[],
  destinations: readonly HomeKind[],
  open: (kind: HomeKind) => Promise<HomeMemory>,
): MemoryPanelModel {
  const panels = homes.map(({ memory }) => memory)
  const last = homes.at(-1)
  if (!last)
    throw new PlimsollError('ERR_INVALID_ARGUMENT', 'memory: homes must not be empty', {
      argument: 'homes',
    })
  const main = last.memory
  /** As they are named here: one id may be of two homes, as after an import. */
  const facts: MemoryPanelModel['facts'] = async ({ query } = {}) => {
    const all = await Promise.all(panels.map((memory) => memory.facts()))
    const known = new Set<string>()
    const named = homes.flatMap(({ kind }, place) => {
      const own = all[place] ?? []
      const found = own.map((fact) => (known.has(fact.id) ? { ...fact, id: `${kind}:${fact.id}` } : fact))
      for (const { id } of own) known.add(id)
      return found
    })
    return matching(named, query)
  }
  /** Does something where a fact is, whose id is another one there if it is of two homes. */
  const inHome = async <Result>(
    factId: string,
    act: (memory: HomeMemory, id: string, kind: HomeKind) => Promise<Result>,
  ): Promise<Result> => {
    for (const { kind, memory } of homes)
      for (const { id } of await memory.facts()) {
        if (id === factId || `${kind}:${id}` === factId) return act(memory, id, kind)
      }
    return act(main, factId, last.kind)
  }
  return {
    ...main,
    homes: homes.map(({ kind }) => kind),
    destinations,
    facts,
    edit: (factId, change) => inHome(factId, (memory, id) => memory.edit(id, change)),
    pin: (factId, pinned) => inHome(factId, (memory, id) => memory.pin(id, pinned)),
    promote: (factId) => inHome(factId, (memory, id) => memory.promote(id)),
    forget: (factId) => inHome(factId, async (memory, id, home) => ({ ...(await memory.forget(id)), home })),
    origin: (factId) =>
      inHome(factId, async (memory, id, home) => {
        const found = await memory.origin(id)
        return found && { ...found, home }
      }),
    async *export(home) {
      for (const { kind, memory } of homes) if (kind === home) yield* memory.export()
    },
    import: async (chunks, home) => (await open(home)).import(chunks),
    async eraseAll() {
      const certificates: HomeCertificate[] = []
      for (const panel of panels) certificates.push(await panel.eraseAll())
      return certificates.reduce(together)
    },
  }
}

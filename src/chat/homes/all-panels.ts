import { PlimsollError } from '../../ports/errors.ts'
import type { HomeCertificate, HomeKind, HomeMemory, MemoryPanelModel } from '../ports.ts'
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
  const main = panels.at(-1)
  if (!main)
    throw new PlimsollError('ERR_INVALID_ARGUMENT', 'memory: homes must not be empty', {
      argument: 'homes',
    })
  const ownerOf = async (factId: string): Promise<HomeMemory> => {
    for (const panel of panels) if ((await panel.facts()).some(({ id }) => id === factId)) return panel
    return main
  }
  return {
    ...main,
    homes: homes.map(({ kind }) => kind),
    destinations,
    facts: async (options) => (await Promise.all(panels.map((panel) => panel.facts(options)))).flat(),
    edit: async (factId, change) => (await ownerOf(factId)).edit(factId, change),
    pin: async (factId, pinned) => (await ownerOf(factId)).pin(factId, pinned),
    promote: async (factId) => (await ownerOf(factId)).promote(factId),
    forget: async (factId) => (await ownerOf(factId)).forget(factId),
    async origin(factId) {
      for (const { kind, memory } of homes) {
        const found = await memory.origin(factId)
        if (found) return { ...found, home: kind }
      }
      return undefined
    },
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

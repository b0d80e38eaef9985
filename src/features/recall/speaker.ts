import type { Recalled } from '../../ports/recall.ts'

/** A name that cannot be taken for what stands after it in a line, such as a label of trust. */
const PLAIN = /^[\p{L}\p{N}\p{M} .'’_-]+$/u

/**
 * Whose a result is, as a line says it: the kind of a fact, the name of who spoke, or the role
 * where that is no plain name.
 */
export function speakerOf({ type, kind, role, name }: Recalled): string | undefined {
  if (type === 'fact') return kind
  return name !== undefined && PLAIN.test(name) ? name : role
}

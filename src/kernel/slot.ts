import type { NamedPart, SessionPart } from './feature.ts'

/**
 * How features reach each other: who asks owns the slot, and the kernel knows neither. Contract:
 * asked when a call runs, never in `open`, so that the order of `use` means nothing.
 */
export interface Slot<Value> {
  readonly id: string
  readonly value?: Value
}

export interface Provided {
  readonly slot: Slot<unknown>
  readonly value: unknown
}

export function slot<Value>(id: string): Slot<Value> {
  return { id }
}

export function provide<Value>(to: Slot<Value>, value: Value): Provided {
  return { slot: to, value }
}

/** The parts of one kind, each beside the name of its feature. */
export function named<Kind extends keyof SessionPart>(
  parts: readonly NamedPart[],
  kind: Kind,
): Named<Kind>[] {
  return parts.flatMap(({ name, part }) => (part[kind] ? [{ name, [kind]: part[kind] } as Named<Kind>] : []))
}

type Named<Kind extends keyof SessionPart> = { readonly name: string } & {
  readonly [kind in Kind]: NonNullable<SessionPart[kind]>
}

/** The values for a slot among what is provided. */
export function providedIn<Value>(provided: readonly Provided[], { id }: Slot<Value>): readonly Value[] {
  return provided.flatMap((one) => (one.slot.id === id ? [one.value as Value] : []))
}

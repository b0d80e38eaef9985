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

/** The values for a slot among what is provided. */
export function providedIn<Value>(provided: readonly Provided[], { id }: Slot<Value>): readonly Value[] {
  return provided.flatMap((one) => (one.slot.id === id ? [one.value as Value] : []))
}

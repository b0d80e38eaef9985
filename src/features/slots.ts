import type { Fact } from '../ports/fact.ts'
import type { Recalled } from '../ports/recall.ts'
import type { ScopeStore } from '../ports/store.ts'
import { type Slot, slot } from '../kernel/feature.ts'

/** Asked by recall: what can be found beside messages. */
export interface SearchableFacts {
  /** The first facts that hold here, best first. */
  read(): Promise<readonly Fact[]>
}
export const Searchable: Slot<SearchableFacts> = slot('plimsoll/searchable')

/** Asked by retention's other side: whether a register is to say when it was written. */
export const Dated: Slot<true> = slot('plimsoll/dated')

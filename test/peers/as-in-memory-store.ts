import { PlimsollStore } from '../../src/bridges/langgraph/index.ts'
import { mapStore } from '../../src/stores/map.ts'

/** The bridge where LangGraph's own tests make the store of LangGraph. */
export class InMemoryStore extends PlimsollStore {
  constructor() {
    super({ store: mapStore(), userId: 'ada' })
  }
}

import { mapStore } from '../../../src/index.ts'
import { describeGovernance, readEverything } from '../../everywhere/governance.ts'

describeGovernance('map', async () => {
  const store = mapStore()
  return { store, dump: () => readEverything(store) }
})

import { mapStore } from '../../src/index.ts'
import { describeSessionRecall } from '../everywhere/session-recall.ts'

describeSessionRecall(
  'map',
  () => mapStore(),
  async (store) => store,
)

import { env } from 'cloudflare:workers'
import { deltaChannelHistoryTests, validate } from '@langchain/langgraph-checkpoint-validation'
import { PlimsollSaver } from '../../../src/bridges/langgraph/index.ts'
import { ObjectStore } from '../../workerd/object-store.ts'

const overObject = {
  checkpointerName: 'PlimsollSaver over durableObjectStore',
  createCheckpointer: () => {
    const store = new ObjectStore(env.THREADS.get(env.THREADS.newUniqueId()))
    return new PlimsollSaver({ store, userId: 'ada' })
  },
}

deltaChannelHistoryTests(overObject)
validate(overObject)

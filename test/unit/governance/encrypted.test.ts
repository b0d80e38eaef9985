import { mapStore } from '../../../src/index.ts'
import { encryptedStore, secretKeys } from '../../../src/stores/encrypted/index.ts'
import { describeGovernance, readEverything } from '../../everywhere/governance.ts'
import { describeTransfer } from '../../everywhere/transfer.ts'

const keys = secretKeys('a secret of this test, of 32 bytes or more')

describeTransfer('an encrypted store', () => encryptedStore(mapStore(), keys))
describeGovernance('encrypted', async () => {
  const store = encryptedStore(mapStore(), keys)
  return { store, dump: () => readEverything(store) }
})

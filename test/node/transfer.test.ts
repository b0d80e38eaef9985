import { mapStore } from '../../src/index.ts'
import { describeTransfer } from '../everywhere/transfer.ts'

describeTransfer('a map', () => mapStore())

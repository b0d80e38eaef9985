import { encryptedStore } from '../../../src/stores/encrypted/index.ts'
import { mapStore } from '../../../src/stores/map.ts'
import { describeStore } from '../../contract/index.ts'
import { describeDifferential } from '../../everywhere/differential.ts'
import { describeEncrypted, KEPT, KEYS } from '../../everywhere/encrypted.ts'

describeStore('encrypted map', () => encryptedStore(mapStore(), KEYS), { kept: KEPT })
describeDifferential('encrypted map', () => encryptedStore(mapStore(), KEYS), { runs: 40 })
describeEncrypted('map', () => mapStore())

import { mapStore } from '../../src/stores/map.ts'
import { describeStore } from '../contract/index.ts'

describeStore('map', () => mapStore())

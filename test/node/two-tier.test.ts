import { mapStore } from '../../src/index.ts'
import { describeTwoTier } from '../everywhere/two-tier.ts'

describeTwoTier('a map', () => mapStore())

import { mapStore } from '../../src/index.ts'
import { describeCalculator } from '../everywhere/calculator.ts'

describeCalculator('a map', () => mapStore())

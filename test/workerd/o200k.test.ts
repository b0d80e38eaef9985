import { loadO200k } from '../../src/counters/o200k.ts'
import { describeO200k } from '../everywhere/o200k.ts'

describeO200k(loadO200k, 300)

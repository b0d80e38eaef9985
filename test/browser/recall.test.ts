import { describeRecall } from '../everywhere/recall.ts'

describeRecall()

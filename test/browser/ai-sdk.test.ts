import { describeBridge } from '../everywhere/ai-sdk.ts'

describeBridge()

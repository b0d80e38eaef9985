import { useSnapshot } from 'plimsoll/vue'
import { version } from 'vue'
import { refused } from './refused.mjs'

const source = { subscribe: () => () => {}, getSnapshot: () => 'shown' }
await refused(`plimsoll/vue: needs \`vue\` 3.4 or later, found ${version}`, () => useSnapshot(source))

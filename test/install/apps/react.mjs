import { useSnapshot } from 'plimsoll/react'
import { createElement, version } from 'react'
import { renderToString } from 'react-dom/server.js'
import { refused } from './refused.mjs'

const source = { subscribe: () => () => {}, getSnapshot: () => 'shown' }
await refused(`plimsoll/react: needs \`react\` 18 or later, found ${version}`, () =>
  renderToString(createElement(() => useSnapshot(source))),
)

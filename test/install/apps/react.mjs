import assert from 'node:assert/strict'
import { useSnapshot } from 'plimsoll/react'
import { createElement, version } from 'react'
import { refused } from './refused.mjs'

// React 17 has no map of exports, and needs the ending; 18 has one without it.
const server = version.startsWith('17.') ? 'react-dom/server.js' : 'react-dom/server'
const { renderToString } = (await import(server)).default
const source = { subscribe: () => () => {}, getSnapshot: () => 'shown' }
const show = () => renderToString(createElement(() => useSnapshot(source)))
if (version.startsWith('17.'))
  await refused(`plimsoll/react: needs \`react\` 18 or later, found ${version}`, show)
else assert.equal(show(), 'shown')

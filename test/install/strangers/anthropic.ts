import { betaMemoryTool } from '@anthropic-ai/sdk/helpers/beta/memory'
import { createMemory, profile } from 'plimsoll'
import { memoryHandlers } from 'plimsoll/anthropic'
import { sqliteStore } from 'plimsoll/sqlite'

const store = sqliteStore({ path: 'files.db' })
const memory = createMemory({ store, budget: 16_000, use: [profile()] })
const tool = betaMemoryTool(memoryHandlers(memory.user({ userId: 'ada' })))
const path = `/memories/${Date.now()}.md`
await tool.run({ command: 'create', path, file_text: process.argv[2] ?? '' })
const listed = String(await tool.run({ command: 'view', path: '/memories' }))
const paths = listed.match(/\/memories\/\S+\.md/g) ?? []
const texts = paths.map((one) => tool.run({ command: 'view', path: one }))
console.log(String(await Promise.all(texts)))
await store.close()

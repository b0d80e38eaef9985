/** What a process holds of a message once it was forgotten: words of a snapshot of its heap. */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const program = `
import { getHeapSnapshot } from 'node:v8'
import * as lib from ${JSON.stringify(new URL('../../src/index.ts', import.meta.url).href)}
const { createMemory, forget, mapStore } = lib
const session = createMemory({ store: mapStore(), system: 'S', budget: 8_000 }).session({ userId: 'ada' })
// Never in one piece, but where it was joined.
const word = () => ['zeb', 'raf', 'ish'].join('')
const shows = async () => {
  const context = await session.context()
  for (const write of [lib.stringifyOpenAI, lib.stringifyOpenAIResponses, lib.stringifyAnthropic])
    for (const cache of [false, true]) write(context, {}, { cache })
}
const say = async (content) => (await session.append({ role: 'user', content })).messages[0].id
const held = async () => {
  await new Promise((done) => setTimeout(done, 1))
  globalThis.gc()
  let text = ''
  for await (const chunk of getHeapSnapshot()) text += chunk
  return text.split(word()).length - 1
}
// Its hash is never read.
const early = await session.context({ preview: true })
const id = await say('It is ' + word() + '.')
for (let turn = 0; turn < 3; turn++) {
  await say('My name is Ada.')
  await session.append({ role: 'assistant', content: 'I see.' })
  await shows()
}
const before = await held()
let old = await session.context()
await forget(session, id)
await session.context()
lib.stringifyOpenAI(old)
old = undefined
const after = await held()
console.log(JSON.stringify({ before, after, early: early.blocks.length }))
`

test('nothing of a request stays in memory once it was forgotten', async () => {
  const run = promisify(execFile)
  const { stdout } = await run(process.execPath, ['--expose-gc', '--input-type=module', '--eval', program])
  const { before, after } = JSON.parse(stdout) as { before: number; after: number }
  expect(before).toBeGreaterThan(4)
  expect(after).toBe(0)
})

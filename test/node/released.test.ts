/** What released versions wrote: a later one opens it, and shows the same. */
import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { importInto, mapStore } from '../../src/index.ts'
import { sqliteStore } from '../../src/stores/sqlite.ts'
import { memoryOver, shownIn } from '../released/shown.ts'

const released = resolve(import.meta.dirname, '../released')

describe.each(readdirSync(released).filter((name) => name.startsWith('format-')))('%s', (name) => {
  const file = (path: string): string => join(released, name, path)
  const shown = JSON.parse(readFileSync(file('shown.json'), 'utf8'))

  it('of a file of SQLite shows what it showed, and goes on', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'plimsoll-released-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const path = join(folder, 'memory.db')
    copyFileSync(file('memory.db'), path)
    const store = sqliteStore({ path })
    onTestFinished(() => store.close())
    const memory = memoryOver(store)
    expect(await shownIn(memory)).toEqual(shown)
    const session = memory.session({ userId: 'ada', sessionId: 'trip' })
    await session.append({ role: 'user', content: 'And back?' })
    const { blocks } = await session.context()
    expect(JSON.stringify(blocks)).toMatch(/Be brief\.[\s\S]*A window seat\.[\s\S]*And back\?/)
  })

  it('of an export shows the same messages and state', async () => {
    const memory = memoryOver(mapStore())
    const lines = readFileSync(file('export.jsonl'), 'utf8')
    await importInto(memory, { userId: 'ada' }, [lines], { trust: 'user' })
    const { history, checkpoint } = (await shownIn(memory)) as typeof shown
    const said = (messages: readonly { id: string; role: string; content: unknown }[]) =>
      messages.map(({ id, role, content }) => ({ id, role, content }))
    expect(said(history)).toEqual(said(shown.history))
    expect(checkpoint).toEqual(shown.checkpoint)
  })
})

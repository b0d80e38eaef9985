import { describe, expect, it } from 'vitest'
import { RunTables } from '../../../../src/edge/turn/run-tables.ts'
import { endedTape, RunTape } from '../../../../src/edge/turn/tape.ts'
import { tapeStream } from '../../../../src/edge/turn/tape-stream.ts'
import { webHost } from '../../../../src/platform/web.ts'
import { sqliteStorage } from '../support/sqlite-storage.ts'

const END = { status: 'done', messageId: '', begin: 0, endedAt: 0 } as const

describe('a tape that is not kept', () => {
  it('waits for its reader, who gets all of it, whatever comes when', async () => {
    const tape = new RunTape()
    tape.write('One ☃ ')
    const reading = new Response(tapeStream(tape)).text()
    await new Promise((resolve) => setTimeout(resolve, 5))
    tape.write('two ')
    tape.end('three', END)
    expect(await reading).toBe('One ☃ two three')
    const late = new RunTape()
    late.write('all of ')
    late.end('it', END)
    expect(await new Response(tapeStream(late)).text()).toBe('all of it')
  })

  it('lets go of what was read', () => {
    const tape = new RunTape()
    tape.write('One')
    expect(tape.read(0)).toHaveLength(3)
    expect(tape.read(0)).toBeUndefined()
    tape.write(' two')
    expect(tape.size).toBe(7)
    expect(new TextDecoder().decode(tape.read(3))).toBe(' two')
  })
})

describe('a tape that is kept', () => {
  it('gives its newest row without asking its tables, and older ones by them', () => {
    const storage = sqliteStorage()
    const tables = new RunTables(storage)
    const place = tables.insert({ id: 'run', key: 'key', fingerprint: '', keep: 1 })
    const onFailure = (error: unknown): never => {
      throw error
    }
    const tape = new RunTape({ tables, place, host: webHost, onFailure })
    const first = 'x'.repeat(2 ** 16)
    tape.write(first)
    tape.end('the end', END)
    const read = (at: number, from: Pick<RunTape, 'read'> = tape) => new TextDecoder().decode(from.read(at))
    storage.said.length = 0
    expect([read(first.length), read(first.length + 4)]).toEqual(['the end', 'end'])
    expect(tape.read(tape.size)).toBeUndefined()
    expect(storage.said).toEqual([])
    expect([read(0), read(first.length - 1)]).toEqual([first, 'x'])
    expect(read(first.length, endedTape(tables, place))).toBe('the end')
  })
})

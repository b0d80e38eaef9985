import { describe, expect, it } from 'vitest'
import { RunTape } from '../../../../src/edge/turn/tape.ts'
import { tapeStream } from '../../../../src/edge/turn/tape-stream.ts'

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

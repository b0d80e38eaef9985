import { beforeEach, describe, expect, it } from 'vitest'
import { FactNotes } from '../../../src/edge/objects/fact-notes.ts'

/** Of an object's queue: whether its alarm notes all facts. */
let isOwed: boolean
let isFailing: boolean
let noted: string[][]

/** As an object has it that has just woken. */
function made(): FactNotes {
  return new FactNotes({
    note: async (keys) => {
      noted.push([...keys])
      if (isFailing) throw new Error('the user is not reached')
    },
    owe: () => {
      isOwed = true
    },
    isOwed: () => isOwed,
    cancel: () => {
      isOwed = false
    },
  })
}

beforeEach(() => {
  isOwed = false
  isFailing = false
  noted = []
})

describe('notes of a session’s facts', () => {
  it('are owed until they are written, behind the transaction of the facts', async () => {
    const notes = made()
    notes.wrote(['fact/a'])
    notes.wrote(['fact/b'])
    expect([isOwed, noted]).toEqual([true, []])
    await notes.settle()
    expect([isOwed, noted]).toEqual([false, [['fact/a', 'fact/b']]])
    notes.wrote(['fact/c'])
    await notes.settle()
    expect([isOwed, noted.at(-1)]).toEqual([false, ['fact/c']])
  })

  it('are left to the alarm where the user is not reached, and owed until that has run', async () => {
    const notes = made()
    isFailing = true
    notes.wrote(['fact/a'])
    await notes.settle()
    isFailing = false
    notes.wrote(['fact/b'])
    await notes.settle()
    expect(isOwed).toBe(true)
    await expect(notes.catchUp(() => Promise.reject(new Error('still not')))).rejects.toThrow('still not')
    notes.wrote(['fact/c'])
    await notes.settle()
    expect(isOwed).toBe(true)
    await notes.catchUp(async () => {})
    notes.wrote(['fact/d'])
    await notes.settle()
    expect(isOwed).toBe(false)
  })

  it('are not taken back where they were owed for something else', async () => {
    isOwed = true
    const woken = made()
    woken.wrote(['fact/a'])
    await woken.settle()
    expect(isOwed).toBe(true)
    isOwed = false
    const pushed = made()
    pushed.leave()
    expect(noted).toEqual([['fact/a']])
    pushed.wrote(['fact/b'])
    await pushed.settle()
    expect(isOwed).toBe(true)
    // What is pushed while the alarm runs is not among what it noted.
    await pushed.catchUp(async () => pushed.leave())
    pushed.wrote(['fact/c'])
    await pushed.settle()
    expect(isOwed).toBe(true)
  })

  it('are dropped with the session', async () => {
    const notes = made()
    notes.wrote(['fact/a'])
    notes.clear()
    await notes.settle()
    expect([isOwed, noted]).toEqual([false, []])
  })
})

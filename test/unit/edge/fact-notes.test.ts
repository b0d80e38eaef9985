import { beforeEach, describe, expect, it } from 'vitest'
import { FactNotes } from '../../../src/edge/objects/fact-notes.ts'

/** Of an object's queue: whether its alarm notes all facts. */
let isOwed: boolean
let isFailing: boolean
let noted: string[][]

/** As an object has it that has just woken. */
function made(): FactNotes {
  return new FactNotes({
    note: async (facts) => {
      noted.push([...facts.values()].map(({ key, isNew }) => (isNew ? `${key}, new` : key)))
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
  it('are looked for where their fact was not written for the first time, or was again', async () => {
    const notes = made()
    notes.wrote([
      { key: 'fact/a', isNew: true },
      { key: 'fact/b', isNew: true },
    ])
    notes.wrote([{ key: 'fact/b', isNew: false }])
    await notes.settle()
    expect(noted).toEqual([['fact/a, new', 'fact/b']])
  })

  it('are owed until they are written, behind the transaction of the facts', async () => {
    const notes = made()
    notes.wrote([{ key: 'fact/a', isNew: false }])
    notes.wrote([{ key: 'fact/b', isNew: false }])
    expect([isOwed, noted]).toEqual([true, []])
    await notes.settle()
    expect([isOwed, noted]).toEqual([false, [['fact/a', 'fact/b']]])
    notes.wrote([{ key: 'fact/c', isNew: false }])
    await notes.settle()
    expect([isOwed, noted.at(-1)]).toEqual([false, ['fact/c']])
  })

  it('are gathered for the alarm, which notes no others where it knows of all', async () => {
    const notes = made()
    for (const key of ['fact/a', 'fact/b']) notes.wrote([{ key, isNew: true }])
    await notes.catchUp(() => Promise.reject(new Error('all')))
    expect([isOwed, noted]).toEqual([false, [['fact/a, new', 'fact/b, new']]])
    notes.leave()
    await expect(notes.catchUp(() => Promise.reject(new Error('all')))).rejects.toThrow('all')
    // It does not know what was before it woke.
    await expect(made().catchUp(() => Promise.reject(new Error('all')))).rejects.toThrow('all')
  })

  it('that are written while others are noted are noted too, and owed until then', async () => {
    const notes = made()
    notes.wrote([{ key: 'fact/a', isNew: true }])
    const settled = notes.settle()
    notes.wrote([{ key: 'fact/b', isNew: true }])
    await settled
    expect([isOwed, noted]).toEqual([false, [['fact/a, new'], ['fact/b, new']]])
  })

  it('are left to the alarm where the user is not reached, and owed until that has run', async () => {
    const notes = made()
    isFailing = true
    notes.wrote([{ key: 'fact/a', isNew: false }])
    await notes.settle()
    isFailing = false
    notes.wrote([{ key: 'fact/b', isNew: false }])
    await notes.settle()
    expect(isOwed).toBe(true)
    await expect(notes.catchUp(() => Promise.reject(new Error('still not')))).rejects.toThrow('still not')
    notes.wrote([{ key: 'fact/c', isNew: false }])
    await notes.settle()
    expect(isOwed).toBe(true)
    await notes.catchUp(async () => {})
    notes.wrote([{ key: 'fact/d', isNew: false }])
    await notes.settle()
    expect(isOwed).toBe(false)
  })

  it('are not taken back where they were owed for something else', async () => {
    isOwed = true
    const woken = made()
    woken.wrote([{ key: 'fact/a', isNew: false }])
    await woken.settle()
    expect(isOwed).toBe(true)
    isOwed = false
    const pushed = made()
    pushed.leave()
    expect(noted).toEqual([['fact/a']])
    pushed.wrote([{ key: 'fact/b', isNew: false }])
    await pushed.settle()
    expect(isOwed).toBe(true)
    // What is pushed while the alarm runs is not among what it noted.
    await pushed.catchUp(async () => pushed.leave())
    pushed.wrote([{ key: 'fact/c', isNew: false }])
    await pushed.settle()
    expect(isOwed).toBe(true)
  })

  it('are dropped with the session', async () => {
    const notes = made()
    notes.wrote([{ key: 'fact/a', isNew: false }])
    notes.clear()
    await notes.settle()
    expect([isOwed, noted]).toEqual([false, []])
  })
})

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { mapStore, type Profile, type Store } from '../../../src/index.ts'
import { memoryWith } from '../../contract/full-memory.ts'
import { runs } from '../support/runs.ts'

const setUp = (store: Store = mapStore()): Profile =>
  memoryWith(['profile'], { store, budget: 16_000 }).user({ userId: 'ada' }).profile

describe('a profile', () => {
  it('gives documents back byte for byte, under any name', async () => {
    const text = fc.string({ unit: 'grapheme' })
    const name = fc.constantFrom(
      'SOUL.md',
      '__proto__',
      'constructor',
      '../x',
      ' ',
      'a/b',
      '%00',
      'É',
      '🚆',
      'skill/x',
    )
    await fc.assert(
      fc.asyncProperty(fc.dictionary(name, text), async (documents) => {
        const profile = setUp()
        const names = Object.keys(documents).sort()
        for (const one of names) await profile.set(one, documents[one] as string)
        expect((await profile.list()).map((document) => [document.name, document.text])).toEqual(
          names.map((one) => [one, documents[one]]),
        )
        for (const one of names) expect((await profile.get(one))?.text).toBe(documents[one])
      }),
      runs(50),
    )
  })

  it('changes by compare-and-set', async () => {
    const profile = setUp()
    expect(await profile.get('TASKS.md')).toBe(undefined)
    const first = await profile.set('TASKS.md', '- [ ] book', { ifVersion: null })
    expect(await profile.get('TASKS.md')).toEqual({ name: 'TASKS.md', text: '- [ ] book', version: first })
    await expect(profile.set('TASKS.md', '', { ifVersion: null })).rejects.toMatchObject({
      code: 'ERR_CONFLICT',
      version: first,
    })
    const second = await profile.set('TASKS.md', '- [x] book', { ifVersion: first })
    await expect(profile.delete('TASKS.md', { ifVersion: first })).rejects.toMatchObject({ version: second })
    await profile.delete('TASKS.md', { ifVersion: second })
    await profile.delete('TASKS.md')
    expect(await profile.get('TASKS.md')).toBe(undefined)
    expect(await profile.list()).toEqual([])
  })

  it('loses no update of two writers at once', async () => {
    const store = mapStore()
    const add = (line: string) => setUp(store).update('MEMORY.md', (text) => `${text}${line}\n`)
    await Promise.all(['one', 'two', 'three'].map(add))
    const { text } = (await setUp(store).get('MEMORY.md')) ?? { text: '' }
    expect(text.trim().split('\n').sort()).toEqual(['one', 'three', 'two'])
  })

  it('holds 64 documents, and refuses one more until another is gone', async () => {
    const profile = setUp()
    for (let index = 0; index < 64; index++) await profile.set(`${index}`, '')
    const refused = { code: 'ERR_LIMIT', limit: 64 }
    await expect(profile.set('one more', '')).rejects.toMatchObject(refused)
    await expect(profile.update('one more', () => '')).rejects.toMatchObject(refused)
    await profile.set('0', 'changed')
    await profile.delete('1')
    await profile.set('one more', '')
    expect(await profile.list()).toHaveLength(64)
  })

  it('refuses a text of more than 32 KiB or with half a character in it, before anything is written', async () => {
    const profile = setUp()
    await profile.set('SOUL.md', 'é'.repeat(16 * 1024))
    await expect(profile.set('SOUL.md', `${'é'.repeat(16 * 1024)}.`)).rejects.toMatchObject({
      code: 'ERR_ENTRY_TOO_LARGE',
      size: 32 * 1024 + 1,
      limit: 32 * 1024,
    })
    for (const text of ['\ud800', 7, undefined])
      await expect(profile.set('SOUL.md', text as string)).rejects.toMatchObject({ argument: 'text' })
    await expect(profile.update('SOUL.md', () => '\ud800')).rejects.toMatchObject({ argument: 'text' })
    expect((await profile.get('SOUL.md'))?.text).toHaveLength(16 * 1024)
  })

  it.each(['', 'a\u0000', 'a\nb', 'a\u2028b', '\u0085', `${'é'.repeat(64)}e`, '\udc00', 7])(
    'refuses the name %j',
    async (name) => {
      const profile = setUp()
      const refused = { code: 'ERR_INVALID_ARGUMENT', argument: 'name' }
      await expect(profile.set(name as string, '')).rejects.toMatchObject(refused)
      await expect(profile.get(name as string)).rejects.toMatchObject(refused)
      await expect(profile.update(name as string, () => '')).rejects.toMatchObject(refused)
      await expect(profile.delete(name as string)).rejects.toMatchObject(refused)
    },
  )

  it('takes a name of 128 bytes', async () => {
    const profile = setUp()
    await profile.set('é'.repeat(64), 'long')
    expect(await profile.list()).toMatchObject([{ name: 'é'.repeat(64), text: 'long' }])
  })
})

import { describe, expect, it } from 'vitest'
import { LANGUAGES } from '../../../src/chat/strings/load.ts'
import { english, loadStrings } from '../../../src/inspector/index.ts'

/** Every text of a language by its place; functions are given values that can be found again. */
function textsIn(words: object, at = ''): readonly (readonly [string, string])[] {
  return Object.entries(words).flatMap(([key, value]: [string, unknown]) => {
    const place = `${at}.${key}`
    if (typeof value === 'function')
      return [
        [place, (value as (...given: string[]) => string)(...['⟦0⟧', '⟦1⟧', '⟦2⟧', '⟦3⟧', '⟦4⟧'])] as const,
      ]
    return typeof value === 'string' ? [[place, value] as const] : textsIn(value as object, place)
  })
}

const given = (text: string): readonly string[] => [...new Set(text.match(/⟦\d⟧/g))].sort()

describe('the words of the inspector', () => {
  it.each(LANGUAGES.filter((language) => language !== 'en'))(
    'are all there in %s, and say all that they are given',
    async (language) => {
      const words = textsIn(await loadStrings(`${language}-XX`))
      const source = textsIn(english)
      expect(words.map(([place]) => place)).toEqual(source.map(([place]) => place))
      for (const [index, [place, text]] of words.entries()) {
        const [, original = ''] = source[index] ?? []
        expect([place, given(text)]).toEqual([place, given(original)])
      }
      // Some words are the same in several languages.
      const same = words.filter(([, text], index) => text === source[index]?.[1])
      expect(same.length / words.length).toBeLessThan(0.15)
    },
  )

  it('are English in any other language', async () => {
    expect(await loadStrings('tlh')).toBe(english)
    expect(await loadStrings('constructor')).toBe(english)
  })
})

import { describe, expect, it } from 'vitest'
import glossary from '../../../docs/glossary.md?raw'
import { demoWords } from '../../../src/agent/demo-words.ts'
import { ar } from '../../../src/chat/strings/ar.ts'
import { de } from '../../../src/chat/strings/de.ts'
import { en } from '../../../src/chat/strings/en.ts'
import { es } from '../../../src/chat/strings/es.ts'
import { fr } from '../../../src/chat/strings/fr.ts'
import { ja } from '../../../src/chat/strings/ja.ts'
import { ar as arPanels } from '../../../src/chat/strings/panels/ar.ts'
import { de as dePanels } from '../../../src/chat/strings/panels/de.ts'
import { en as enPanels } from '../../../src/chat/strings/panels/en.ts'
import { es as esPanels } from '../../../src/chat/strings/panels/es.ts'
import { fr as frPanels } from '../../../src/chat/strings/panels/fr.ts'
import { ja as jaPanels } from '../../../src/chat/strings/panels/ja.ts'
import { loadStrings } from '../../../src/inspector/index.ts'
import { raceWords } from '../../../web/race/words.ts'
import { unplugWords } from '../../../web/unplug/words.ts'
import { wordsFor } from '../../../web/words.ts'
import { worldWords } from '../../../web/worlds/words.ts'

const LANGUAGES = {
  English: { ...en, ...enPanels },
  German: { ...de, ...dePanels },
  French: { ...fr, ...frPanels },
  Spanish: { ...es, ...esPanels },
  Arabic: { ...ar, ...arPanels },
  Japanese: { ...ja, ...jaPanels },
}
const TAGS = { English: 'en', German: 'de', French: 'fr', Spanish: 'es', Arabic: 'ar', Japanese: 'ja' }
type Language = keyof typeof LANGUAGES

const [, chapter = ''] = glossary.split('## What people read')
const tables = chapter.split('\n\n').filter((part) => part.trim().startsWith('|'))
const rowsOf = (table = ''): readonly (readonly string[])[] =>
  table
    .trim()
    .split('\n')
    .filter((_, line) => line !== 1)
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    )
const [[, ...columns] = [], ...meanings] = rowsOf(tables[0])
const [, ...banned] = rowsOf(tables[1])

/** Every text, by its place; functions are given values that can be told from their own words. */
function textsIn(words: unknown, place: string): readonly (readonly [place: string, text: string])[] {
  if (typeof words === 'string') return [[place, words]]
  if (typeof words === 'function')
    return textsIn((words as (...given: string[]) => unknown)('0', '0', '0', '0', '0'), place)
  if (typeof words !== 'object' || words === null || words instanceof RegExp) return []
  return Object.entries(words).flatMap(([key, value]) => textsIn(value, `${place}.${key}`))
}

/** All that a language says; not what a person says to the assistant, nor what is quoted of it. */
async function saidIn(language: Language): Promise<readonly (readonly [string, string])[]> {
  const tag = TAGS[language]
  const page = Object.entries(wordsFor([tag]).words).filter(([key]) => !key.startsWith('starter'))
  return [
    ...textsIn(LANGUAGES[language], 'chat'),
    ...textsIn(await loadStrings(tag), 'inspector'),
    ...textsIn(Object.fromEntries(page), 'page'),
    ...textsIn(raceWords(tag), 'race'),
    ...textsIn(worldWords(tag), 'worlds'),
    ...textsIn(unplugWords(tag), 'unplug'),
    ...textsIn(demoWords(tag), 'demo'),
  ].map(([place, text]) => [place, text.replaceAll(/\{\w+\}|„[^“]*“|“[^”]*”|«[^»]*»|「[^」]*」/g, '')])
}

/** A word alone, or, where it ends in `…`, what begins with it. Japanese has no spaces. */
function patternOf(word: string, language: Language): RegExp {
  const stem = word.replace(/…$/, '')
  if (language === 'Japanese') return new RegExp(stem, 'u')
  const end = word.endsWith('…') ? '' : '(?![\\p{L}\\p{M}])'
  return new RegExp(`(?<![\\p{L}\\p{M}])${stem}${end}`, 'iu')
}

describe('the words that people read', () => {
  it.each(Object.keys(LANGUAGES) as Language[])('give two things two names, in %s', (language) => {
    const { words } = wordsFor([TAGS[language]])
    const { homeLocal } = LANGUAGES[language]
    expect(words.keep.toLowerCase()).not.toContain(homeLocal.toLowerCase())
  })

  it('are all in the glossary’s languages', () => {
    expect(columns).toEqual(Object.keys(LANGUAGES))
    expect(meanings.length).toBeGreaterThan(10)
    expect(banned.map(([language]) => language)).toEqual(expect.arrayContaining(Object.keys(LANGUAGES)))
  })

  it.each(Object.keys(LANGUAGES) as Language[])('are those of the glossary, in %s', async (language) => {
    const said = await saidIn(language)
    const all = said.map(([, text]) => text.toLowerCase()).join('\n')
    const column = columns.indexOf(language) + 1
    for (const row of meanings) {
      const word = row[column] ?? ''
      expect([row[0], all.includes(word.toLowerCase()) ? '' : word]).toEqual([row[0], ''])
    }
    const outside = banned
      .filter(([of]) => of === language)
      .flatMap(([, words = '']) => words.split(', '))
      .flatMap((word) => {
        const pattern = patternOf(word, language)
        return said.flatMap(([place, text]) => (pattern.test(text) ? `${word}: ${place}: ${text}` : []))
      })
    expect(outside).toEqual([])
  })
})

/** What docs/chat.md and the manifest say of the widget, beside its class. */
import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { viewStyle } from '../../src/chat/element/style.ts'
import { PlimsollChat } from '../../src/chat/index.ts'
import { launcherStyle } from '../../src/chat/launcher/style.ts'

const root = resolve(import.meta.dirname, '../..')
const read = (path: string): string => readFileSync(join(root, path), 'utf8')
const page = read('docs/chat.md')
const source = read('src/chat/index.ts')

/** First cells of the table under a heading of the page, or of the table with that first column. */
function firstCells(column: string): readonly string[] {
  const table = page.split(`\n| ${column} |`)[1]?.split('\n\n')[0] ?? ''
  return [...table.matchAll(/^\| `([\w-]+)(?:\([^`]*)?` \|/gm)].map(([, name = '']) => name)
}

/** Names after a tag of the class's comment. */
const tagged = (tag: string): readonly string[] =>
  [...source.matchAll(new RegExp(`^ \\* @${tag} (?:\\{[^}]*\\} )?\\[?([\\w-]+)`, 'gm'))].map(
    ([, name = '']) => name,
  )

const isPublicMethod = (name: string): boolean =>
  typeof Object.getOwnPropertyDescriptor(PlimsollChat.prototype, name)?.value === 'function' &&
  ![
    'constructor',
    'connectedCallback',
    'disconnectedCallback',
    'attributeChangedCallback',
    'openChat',
  ].includes(name)

describe('docs/chat.md', () => {
  it('has every attribute that the class observes, each a property too', () => {
    expect(firstCells('attribute')).toEqual(PlimsollChat.observedAttributes)
    expect(tagged('attr')).toEqual(PlimsollChat.observedAttributes)
    for (const name of PlimsollChat.observedAttributes) {
      // The platform has `lang`.
      if (name !== 'lang') expect(Object.hasOwn(PlimsollChat.prototype, name), name).toBe(true)
    }
  })

  it('has every other property', () => {
    const declared = [...source.matchAll(/^ {2}declare (\w+)\?:/gm)].map(([, name]) => name)
    expect(firstCells('property')).toEqual(['getToken', ...declared, 'strings'])
  })

  it('has every method', () => {
    const methods = Object.getOwnPropertyNames(PlimsollChat.prototype).filter(isPublicMethod)
    expect(firstCells('method')).toEqual(methods)
  })

  it('has every event', () => {
    const events = [...source.matchAll(/^ {2}'(plimsoll-[a-z-]+)': CustomEvent/gm)].map(([, name]) => name)
    expect(firstCells('event')).toEqual(events)
    expect(tagged('fires')).toEqual(events)
  })

  it('has every part, slot and custom property, and the style has them too', () => {
    expect(firstCells('part')).toEqual(tagged('csspart'))
    expect(firstCells('slot')).toEqual(tagged('slot'))
    expect(firstCells('custom property | default')).toEqual(tagged('cssprop'))
    const used = new Set(`${viewStyle}${launcherStyle}`.match(/--plimsoll-[a-z-]+/g))
    expect([...used].toSorted()).toEqual([...tagged('cssprop')].toSorted())
  })

  it('gives the defaults of the style', () => {
    const colours = [
      ...`${viewStyle}${launcherStyle}`.matchAll(/var\((--plimsoll-[a-z-]+), (light-dark\([^)]*\))\)/g),
    ]
    expect(colours.length).toBeGreaterThan(8)
    for (const [, name, value] of colours) expect(page).toContain(`| \`${name}\` | \`${value}\` |`)
  })
})

describe('the manifest', () => {
  const path = join(root, 'dist/custom-elements.json')

  it.runIf(existsSync(path))('names what an app may use, and nothing else', () => {
    const { modules } = JSON.parse(readFileSync(path, 'utf8')) as {
      readonly modules: readonly {
        readonly declarations: readonly Record<string, readonly { readonly name: string }[]>[]
      }[]
    }
    const [declaration = {}] = modules.flatMap(({ declarations }) => declarations)
    const names = (key: string): readonly string[] => declaration[key]?.map(({ name }) => name) ?? []
    expect(names('attributes')).toEqual(PlimsollChat.observedAttributes)
    expect(names('events')).toEqual(tagged('fires'))
    expect(
      names('members')
        .filter((name) => !firstCells('attribute').includes(name))
        .toSorted(),
    ).toEqual([...firstCells('property'), ...firstCells('method')].toSorted())
  })
})

describe('the catalogues', () => {
  const languages = ['de', 'fr', 'es', 'ar', 'ja']
  const placeholders = (text: string): readonly string[] => (text.match(/\{\w+\}/g) ?? []).toSorted()

  /** What the view says, then what its panels say. */
  const catalogueOf = async (language: string): Promise<Record<string, unknown>> => {
    const view = await import(`../../src/chat/strings/${language}.ts`)
    const panels = await import(`../../src/chat/strings/panels/${language}.ts`)
    return { ...view[language], ...panels[language] }
  }

  it.each(languages)('%s keeps the placeholders of the English texts', async (language) => {
    const en = await catalogueOf('en')
    const own = await catalogueOf(language)
    expect(Object.keys(own)).toEqual(Object.keys(en))
    for (const [key, text] of Object.entries(own)) {
      const original = en[key]
      if (typeof text === 'string') expect(placeholders(text), key).toEqual(placeholders(String(original)))
      else expect(placeholders((text as { other: string }).other), key).toEqual(['{count}'])
    }
  })
})

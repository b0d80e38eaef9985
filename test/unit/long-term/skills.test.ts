import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createMemory } from '../../../src/create-memory.ts'
import { type LoadedSkills, loadedSkills } from '../../../src/features/skills/loaded-skills.ts'
import {
  fromMarkdown,
  mapStore,
  type Skill,
  type Skills,
  type Store,
  toMarkdown,
  utf8Bound,
} from '../../../src/index.ts'
import { listSession, listSessions } from '../../../src/operations/sessions.ts'
import { webHost } from '../../../src/platform/web.ts'
import { memoryWith } from '../../contract/full-memory.ts'
import { changedStore } from '../../everywhere/changed-store.ts'
import { runs } from '../support/runs.ts'

const setUp = (store: Store = mapStore()): Skills =>
  memoryWith(['skills'], { store, budget: 16_000, counter: utf8Bound }).user({ userId: 'ada' }).skills
const skill = (name: string, more: Partial<Skill> = {}): Skill => ({
  name,
  description: `All about ${name}.`,
  text: `# ${name}\n`,
  ...more,
})
const markdown = (...lines: string[]): string => ['---', ...lines, '---', '# Text\n'].join('\n')

describe('skills', () => {
  it('are listed without their texts, by name, page by page', async () => {
    const skills = setUp()
    for (const name of ['b', 'a-2', 'a', 'c1', 'a1']) await skills.set(skill(name))
    const names = async (query = {}) => (await skills.list(query)).map(({ name }) => name)
    expect(await names()).toEqual(['a', 'a-2', 'a1', 'b', 'c1'])
    expect(await names({ first: 2 })).toEqual(['a', 'a-2'])
    expect(await names({ first: 2, after: 'a-2' })).toEqual(['a1', 'b'])
    expect(await names({ after: 'bb' })).toEqual(['c1'])
    expect(await names({ first: 0 })).toEqual([])
    for (const first of [-1, 1.5, '2'])
      await expect(names({ first })).rejects.toMatchObject({
        code: 'ERR_INVALID_ARGUMENT',
        argument: 'first',
      })
    const [first] = await skills.list()
    expect(first).toEqual({ name: 'a', description: 'All about a.', version: expect.any(String) })
  })

  it('come 512 a page', async () => {
    const skills = setUp()
    for (let index = 0; index < 513; index++) await skills.set(skill(`s-${index}`))
    const page = await skills.list({ first: 10_000 })
    expect(page).toHaveLength(512)
    expect(await skills.list({ after: page.at(-1)?.name ?? '' })).toHaveLength(1)
  })

  it('stand in the index with the tokens of their entries', async () => {
    const store = mapStore()
    const skills = setUp(store)
    const sum = async () => (await store.open({ userId: 'ada' }).sums(['skill'])).get('skill')
    await skills.set(skill('a'))
    await skills.set(skill('b', { description: 'é' }))
    const weight = (name: string, description: string) =>
      utf8Bound.count(`${JSON.stringify({ name, description })},`)
    expect(await sum()).toEqual({ count: 2, weight: weight('a', 'All about a.') + weight('b', 'é') })
    await skills.set(skill('a', { description: 'x' }))
    expect(await sum()).toEqual({ count: 2, weight: weight('a', 'x') + weight('b', 'é') })
    await skills.delete('a')
    await skills.delete('b')
    expect(await sum()).toBe(undefined)
  })

  it('change by compare-and-set, text and entry together', async () => {
    const store = mapStore()
    const skills = setUp(store)
    const first = await skills.set(skill('tides'), { ifVersion: null })
    expect(await skills.set(skill('tides'))).toBe(first)
    const second = await skills.set(skill('tides', { description: 'New.' }), { ifVersion: first })
    expect(await skills.get('tides')).toEqual({ ...skill('tides', { description: 'New.' }), version: second })
    const third = await skills.set(skill('tides', { text: '' }))
    expect(await skills.get('tides')).toEqual({ ...skill('tides', { text: '' }), version: third })
    await skills.set(skill('tides', { text: '', frontMatter: 'license: MIT\r\nx: y\r' }))
    expect((await skills.get('tides'))?.frontMatter).toBe('license: MIT\nx: y')
    const last = await skills.set(skill('tides', { text: '' }))
    expect(await skills.get('tides')).toEqual({ ...skill('tides', { text: '' }), version: last })
    const refused = { code: 'ERR_CONFLICT', version: last }
    await expect(skills.set(skill('tides'), { ifVersion: second })).rejects.toMatchObject(refused)
    await expect(skills.delete('tides', { ifVersion: null })).rejects.toMatchObject(refused)
    await skills.delete('tides', { ifVersion: last })
    expect((await store.open({ userId: 'ada' }).register('skill-text/tides'))?.body).toBe('null')
    await skills.delete('tides')
    expect(await skills.get('tides')).toBe(undefined)
    expect(await skills.list()).toEqual([])
    await skills.set(skill('tides'), { ifVersion: null })
    expect(await skills.get('tides')).toMatchObject(skill('tides'))
  })

  it('stay whole when an op is repeated after others wrote', async () => {
    const skills = setUp()
    await skills.set(skill('tides'))
    const named = { opId: 'mine' }
    await skills.set(skill('tides', { description: 'Mine.' }), named)
    await skills.set(skill('tides', { text: 'Theirs.' }))
    expect(await skills.set(skill('tides', { description: 'Mine.' }), named)).toBe('mine')
    expect(await skills.get('tides')).toMatchObject(skill('tides', { text: 'Theirs.' }))
  })

  it('are read whole while others write them', async () => {
    const inner = mapStore()
    const others = setUp(inner)
    await others.set(skill('tides', { text: '0', description: '0' }))
    let writes = 0
    const interrupted = (most: number): Skills =>
      setUp(
        changedStore(inner, (scope) => ({
          register: async (key) => {
            if (key.startsWith('skill-text/') && writes < most) {
              const now = `${++writes}`
              await others.set(skill('tides', { text: now, description: now }))
            }
            return scope.register(key)
          },
        })),
      )
    expect(await interrupted(7).get('tides')).toMatchObject({ text: '7', description: '7' })
    await expect(interrupted(100).get('tides')).rejects.toMatchObject({ code: 'ERR_CONFLICT', id: 'tides' })
  })

  it('lose no text where one deletes and another writes at once', async () => {
    const store = mapStore()
    await setUp(store).set(skill('tides'))
    await Promise.all([setUp(store).delete('tides'), setUp(store).set(skill('tides', { text: 'New.' }))])
    const left = await setUp(store).get('tides')
    if (left) expect(left.text).toBe('New.')
    expect(await setUp(store).list()).toHaveLength(left ? 1 : 0)
  })
})

describe('a skill', () => {
  it.each([
    '',
    'A',
    '-a',
    'a-',
    'a--b',
    'a b',
    'a_b',
    '../x',
    '__proto__',
    'a\u0000',
    'é',
    'a'.repeat(65),
    7,
  ])('cannot be named %j', async (name) => {
    const skills = setUp()
    const refused = { code: 'ERR_INVALID_ARGUMENT', argument: 'name' }
    await expect(skills.set(skill(name as string))).rejects.toMatchObject(refused)
    await expect(skills.get(name as string)).rejects.toMatchObject(refused)
    await expect(skills.delete(name as string)).rejects.toMatchObject(refused)
    await expect(skills.list({ after: name as string })).rejects.toMatchObject({ argument: 'after' })
  })

  it('may be named constructor, and with 64 characters', async () => {
    const skills = setUp()
    for (const name of ['constructor', '0', 'a'.repeat(64)]) {
      await skills.set(skill(name))
      expect(await skills.get(name)).toMatchObject(skill(name))
    }
  })

  it('has 64 KiB of text, 1 024 characters of description, and not more', async () => {
    const skills = setUp()
    const most = skill('a', { description: '🚆'.repeat(1_024), text: 'é'.repeat(32 * 1024) })
    await skills.set(most)
    expect(await skills.get('a')).toMatchObject(most)
    const tooLarge = { code: 'ERR_ENTRY_TOO_LARGE', size: 64 * 1024 + 1, limit: 64 * 1024 }
    await expect(skills.set({ ...most, text: `${most.text}.` })).rejects.toMatchObject(tooLarge)
    await expect(skills.set({ ...most, frontMatter: '#' })).rejects.toMatchObject(tooLarge)
    const refused = { argument: 'description' }
    for (const description of [`${most.description}.`, '', ' \n', '\ud800', undefined])
      await expect(skills.set({ ...most, description } as Skill)).rejects.toMatchObject(refused)
    for (const other of [null, 7, []])
      await expect(skills.set(other as never)).rejects.toMatchObject({ argument: 'skill' })
  })
})

describe('the Markdown of a skill', () => {
  const name = fc.stringMatching(/^[a-z0-9]{1,5}(-[a-z0-9]{1,5}){0,2}$/)
  const text = fc.string({
    unit: fc.constantFrom(
      'a',
      '"',
      "'",
      '\n',
      '\r',
      '---',
      ': ',
      ' #',
      '\\',
      '\t',
      '🚆',
      '\u2028',
      '\u0000',
      '{',
    ),
  })
  const description = text.map((some) => `x${some}`)
  const frontMatter = fc
    .array(
      fc.constantFrom('license: MIT', 'metadata:', '  version: "1"', '', '# note', '- item', 'a\rb', '----'),
    )
    .map((lines) => lines.join('\n'))
    .filter((lines) => lines !== '' && !/^\s*\n?[ \t]/.test(lines.replace(/^\n+/, '')))

  it('comes back byte for byte, and so do its parts', async () => {
    await fc.assert(
      fc.asyncProperty(
        name,
        description,
        text,
        fc.option(frontMatter, { nil: undefined }),
        async (...parts) => {
          const [name, description, text, frontMatter] = parts
          const given = { name, description, text, ...(frontMatter !== undefined && { frontMatter }) }
          const skills = setUp()
          await skills.set(given)
          const written = toMarkdown((await skills.get(name)) as Skill)
          expect(written).toBe(toMarkdown(given))
          const version = await skills.set(fromMarkdown(written))
          expect(await skills.get(name)).toEqual({ ...given, version })
        },
      ),
      runs(300),
    )
  })

  it('is what others read: name, a quoted description, the rest of the front matter, the text', async () => {
    expect(toMarkdown(skill('tides', { description: 'Say "high".', frontMatter: 'license: MIT' }))).toBe(
      '---\nname: tides\ndescription: "Say \\"high\\"."\nlicense: MIT\n---\n# tides\n',
    )
    for (const name of ['true', 'null', 'no', '123', '1e3'])
      expect(toMarkdown(skill(name))).toContain(`\nname: "${name}"\n`)
  })

  it.each([
    ['a plain text', 'description: Reads tides.', 'Reads tides.'],
    ['a colon inside', 'description: Use when: asked', 'Use when: asked'],
    ['a comment after it', 'description: Reads  # tides', 'Reads'],
    ['a hash inside', 'description: C#', 'C#'],
    ['white space around it', 'description :\t Reads  ', 'Reads'],
    ['double quotes', 'description: "a \\"b\\" \\u00e9 # c"  # d', 'a "b" é # c'],
    ['a tab in quotes', 'description: "a\tb"', 'a\tb'],
    ['single quotes', "description: 'it''s \\n' # d", "it's \\n"],
    ['a line separator', 'description: a\u2028b', 'a\u2028b'],
    ['a carriage return', 'description: Reads\r', 'Reads'],
  ])('is read with %s', async (_, line, description) => {
    const skills = setUp()
    await skills.set(fromMarkdown(markdown('name: tides', line)))
    expect(await skills.get('tides')).toMatchObject({ description, text: '# Text\n' })
  })

  it('keeps what it does not read, whatever the order and the line ends', async () => {
    const skills = setUp()
    const lines = [
      'license: MIT',
      'name: tides',
      'metadata:',
      '  name: inner',
      '',
      'description: D',
      'x: [1]',
    ]
    await skills.set(
      fromMarkdown(
        `\u{feff}${lines.reduce((all, line) => `${all}${line}\r\n`, '---\r\n')}--- \r\nA\r\n---\r\n`,
      ),
    )
    expect(await skills.get('tides')).toMatchObject({
      description: 'D',
      frontMatter: 'license: MIT\nmetadata:\n  name: inner\n\nx: [1]',
      text: 'A\r\n---\r\n',
    })
    await skills.set(fromMarkdown('---\nname: bare\ndescription: D\n---'))
    expect(await skills.get('bare')).toEqual({
      name: 'bare',
      description: 'D',
      text: '',
      version: expect.any(String),
    })
  })

  it.each([
    ['no front matter', '# Tides', 'markdown'],
    ['nothing', '', 'markdown'],
    ['no end of it', '---\nname: tides\ndescription: D\n', 'markdown'],
    ['no name', markdown('description: D'), 'name'],
    ['no description', markdown('name: tides'), 'description'],
    ['two names', markdown('name: tides', 'name: tides', 'description: D'), 'name'],
    ['a folded text', markdown('name: tides', 'description: >-', '  D'), 'description'],
    ['a text of two lines', markdown('name: tides', 'description: D', '', '  E'), 'description'],
    ['an open quote', markdown('name: tides', 'description: "D'), 'description'],
    ['an escape of YAML alone', markdown('name: tides', 'description: "\\x41"'), 'description'],
    ['more after a quote', markdown('name: tides', "description: 'D' E"), 'description'],
    ['a list', markdown('name: tides', 'description: [D]'), 'description'],
    ['an alias', markdown('name: tides', 'description: *d'), 'description'],
    ['an indented beginning', markdown('  a: b', 'name: tides', 'description: D'), 'frontMatter'],
    ['half a character', markdown('name: tides', 'description: \ud800'), 'markdown'],
  ])('is refused with %s', (_, source, argument) => {
    expect(() => fromMarkdown(source)).toThrow(
      expect.objectContaining({ code: 'ERR_INVALID_ARGUMENT', argument }),
    )
  })

  it.each([
    'name: other',
    'a: b\ndescription : D',
    '---',
    'a: b\n---\t',
    '  a: b',
    '\n\ta',
    ' \n a: b',
    '\ud800',
    7,
  ])('takes no front matter that would not come back: %j', async (frontMatter) => {
    const refused = { code: 'ERR_INVALID_ARGUMENT', argument: 'frontMatter' }
    await expect(setUp().set(skill('a', { frontMatter: frontMatter as string }))).rejects.toMatchObject(
      refused,
    )
  })

  it('is read in a time that grows with its length, whatever it holds', () => {
    const hostile = [
      '\r'.repeat(400_000),
      `---\nname: a\ndescription: ${' #'.repeat(200_000)}\u2028`,
      `---\nname: a\ndescription: ${"'".repeat(400_000)}x\n---\n`,
      `---\nname: a\ndescription: "${'\\'.repeat(400_001)}\n---\n`,
      `---\n${'\n'.repeat(400_000)}`,
    ]
    for (const source of hostile)
      expect(() => fromMarkdown(source)).toThrow(expect.objectContaining({ code: 'ERR_INVALID_ARGUMENT' }))
  }, 2_000)
})

describe('loaded skills', () => {
  const open = (
    store: Store = mapStore(),
    sessionId = 'default',
  ): { readonly loadedSkills: LoadedSkills } => ({
    loadedSkills: loadedSkills(store.open({ userId: 'ada', sessionId }), webHost, () =>
      listSession(createMemory({ store, budget: 16_000 }), { userId: 'ada', sessionId }),
    ),
  })

  it('are those of one session, in the order in which they were loaded', async () => {
    const store = mapStore()
    const { loadedSkills } = open(store)
    expect(await loadedSkills.list()).toEqual([])
    for (const name of ['tides', 'ports', 'tides']) await loadedSkills.load(name)
    expect(await open(store).loadedSkills.list()).toEqual(['tides', 'ports'])
    expect(await open(store, 'other').loadedSkills.list()).toEqual([])
  })

  it('are unloaded without a loss', async () => {
    const store = mapStore()
    const skills = setUp(store)
    await skills.set(skill('tides'))
    const { loadedSkills } = open(store)
    await loadedSkills.load('tides')
    await loadedSkills.unload('tides')
    await loadedSkills.unload('tides')
    expect(await loadedSkills.list()).toEqual([])
    expect(await skills.get('tides')).toMatchObject(skill('tides'))
  })

  it('are at most 16', async () => {
    const { loadedSkills } = open()
    for (let index = 0; index < 16; index++) await loadedSkills.load(`s${index}`)
    await expect(loadedSkills.load('one-more')).rejects.toMatchObject({ code: 'ERR_LIMIT', limit: 16 })
    await loadedSkills.load('s3')
    await loadedSkills.unload('s0')
    await loadedSkills.load('one-more')
    expect(await loadedSkills.list()).toHaveLength(16)
  })

  it('are not lost where two load at once', async () => {
    const store = mapStore()
    await Promise.all(['a', 'b', 'c'].map((name) => open(store).loadedSkills.load(name)))
    expect([...(await open(store).loadedSkills.list())].sort()).toEqual(['a', 'b', 'c'])
  })

  it('have the names that skills have, and their session is listed', async () => {
    const store = mapStore()
    const { loadedSkills } = open(store)
    await expect(loadedSkills.load('__proto__')).rejects.toMatchObject({ argument: 'name' })
    await expect(loadedSkills.unload('A')).rejects.toMatchObject({ argument: 'name' })
    const list = () => listSessions(createMemory({ store, budget: 16_000 }), { userId: 'ada' })
    await loadedSkills.unload('tides')
    expect((await store.open({ userId: 'ada', sessionId: 'default' }).head()).seq).toBe(0)
    expect(await list()).toHaveLength(0)
    await loadedSkills.load('tides')
    expect(await list()).toHaveLength(1)
  })
})

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { betaMemoryTool } from '@anthropic-ai/sdk/helpers/beta/memory'
import { BetaLocalFilesystemMemoryTool } from '@anthropic-ai/sdk/tools/memory/node'
import fc from 'fast-check'
import { afterAll, expect, it } from 'vitest'
import { memoryHandlers } from '../../../src/bridges/anthropic/index.ts'
import { createMemory, mapStore, profile, type Store } from '../../../src/index.ts'
import { runs } from '../../everywhere/runs.ts'

const memoryOver = (store: Store) => createMemory({ store, use: [profile()] })
const handlersOver = (store: Store = mapStore()) => memoryHandlers(memoryOver(store).user({ userId: 'ada' }))

const folders: string[] = []
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

const label = fc.constantFrom('a', 'b', 'c.md', '.hidden', 'node_modules')
const path = fc.oneof(
  fc.array(label, { minLength: 1, maxLength: 4 }).map((labels) => `/memories/${labels.join('/')}`),
  fc.constantFrom(
    '/memories',
    '/memories/',
    '/memories/a/../b',
    '/memories/./a//b',
    '/memories/../x',
    '/memory/a',
    'memories/a',
    '/etc/passwd',
    '',
  ),
)
const text = fc
  .array(fc.constantFrom('one', 'two', 'one two', '', '$&'), { maxLength: 4 })
  .map((lines) => lines.join('\n'))
const command = fc.oneof(
  { weight: 3, arbitrary: fc.record({ command: fc.constant('create'), path, file_text: text }) },
  fc.record({ command: fc.constant('view'), path }),
  fc.record({
    command: fc.constant('view'),
    path,
    view_range: fc.oneof(
      fc.tuple(fc.integer({ min: -1, max: 5 }), fc.integer({ min: -1, max: 5 })),
      fc.constant([2]),
    ),
  }),
  fc.record({
    command: fc.constant('str_replace'),
    path,
    old_str: fc.constantFrom('one', 'two', '', 'o\nt'),
    new_str: text,
  }),
  fc.record({
    command: fc.constant('insert'),
    path,
    insert_line: fc.integer({ min: -1, max: 5 }),
    insert_text: fc.constantFrom('new', 'new\n', '\n'),
  }),
  fc.record({ command: fc.constant('delete'), path }),
  fc.record({ command: fc.constant('rename'), old_path: path, new_path: path }),
)

/** What a command gives, or is refused with; without the sizes of folders, which a disk says. */
async function answer(tool: object, given: { readonly command: string }): Promise<string> {
  const run = betaMemoryTool(tool as never)
  const said = await Promise.resolve()
    .then(() => run.run(given as never))
    .catch((error: Error) => `refused: ${error.message}`)
  return String(said).replace(/^[\d.]+[BKMG]\t(.*\/|\/memories[^\n]*)$/gm, 'folder $1')
}

it('answers as the tool of the SDK does over a file system, but where that tells of the system', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(command, { maxLength: 10 }), async (commands) => {
      const folder = mkdtempSync(join(tmpdir(), 'plimsoll-memories-'))
      folders.push(folder)
      const theirs = await BetaLocalFilesystemMemoryTool.init(folder)
      const own = handlersOver()
      for (const one of commands) {
        const expected = await answer(theirs, one)
        // A file in the way of a folder, a folder without files, a move into itself: its own words.
        if (/E[A-Z]+:|not a directory|EISDIR/.test(expected)) break
        const actual = await answer(own, one)
        expect(actual, JSON.stringify(one)).toBe(expected)
        // A folder whose last file went is still there in a file system, as is one that was made
        // for a rename that was refused then.
        if (one.command === 'rename' || actual.startsWith('Successfully')) break
      }
    }),
    runs(200),
  )
})

it('keeps files as documents of the user, which no context shows', async () => {
  const store = mapStore()
  const memory = memoryOver(store)
  const user = memory.user({ userId: 'ada' })
  const tool = memoryHandlers(user)
  await user.profile.set('SOUL.md', 'Be kind.')
  await tool.create({ path: '/memories/notes/a.md', file_text: 'Obey the page.' })
  expect((await user.profile.get('memories/notes/a.md'))?.text).toBe('Obey the page.')
  const session = memory.session({ userId: 'ada' })
  await session.append({ role: 'user', content: 'Hello.' })
  const first = await session.context()
  expect(JSON.stringify(first.blocks)).toContain('Be kind.')
  expect(JSON.stringify(first.blocks)).not.toContain('Obey the page.')
  await tool.str_replace({ path: '/memories/notes/a.md', old_str: 'page', new_str: 'letter' })
  expect((await session.context()).epoch).toBe(first.epoch)
  // A document of the app is none of its files.
  expect(await tool.view({ path: '/memories' })).not.toContain('SOUL')
  await expect(tool.view({ path: '/memories/../SOUL.md' })).rejects.toThrow(
    'would escape /memories directory',
  )
  // Nor is there a way out and in again.
  await expect(tool.view({ path: '/memories/a/../../memories/notes/a.md' })).rejects.toThrow('would escape')
  const other = memoryHandlers(memory.user({ userId: 'bob' }))
  expect(await other.view({ path: '/memories' })).not.toContain('notes')
})

it('refuses a memory without documents, and a range that is none', async () => {
  const user = createMemory({ store: mapStore() }).user({ userId: 'ada' })
  expect(() => memoryHandlers(user as never)).toThrowError(
    expect.objectContaining({ code: 'ERR_NOT_CONFIGURED', message: expect.stringContaining('profile()') }),
  )
  const tool = handlersOver()
  await tool.create({ path: '/memories/a', file_text: 'one' })
  for (const range of [
    ['a', 2],
    [1, Number.NaN],
    [1.5, 2],
    [null, 2],
  ] as never[])
    await expect(tool.view({ path: '/memories/a', view_range: range })).rejects.toMatchObject({
      code: 'ERR_INVALID_ARGUMENT',
    })
})

it('moves nothing of a folder where one of its files cannot go', async () => {
  const tool = handlersOver()
  const long = 'x'.repeat(100)
  for (const name of ['a', long]) await tool.create({ path: `/memories/d/${name}`, file_text: name })
  const before = await tool.view({ path: '/memories' })
  await expect(
    tool.rename({ old_path: '/memories/d', new_path: `/memories/${'e'.repeat(40)}` }),
  ).rejects.toMatchObject({ code: 'ERR_INVALID_ARGUMENT' })
  expect(await tool.view({ path: '/memories' })).toBe(before)
})

it('keeps both edits of two writers, and lets one of two create a file', async () => {
  const store = mapStore()
  const tools = [handlersOver(store), handlersOver(store)]
  const path = '/memories/a.md'
  const created = await Promise.allSettled(tools.map((tool) => tool.create({ path, file_text: 'one\ntwo' })))
  expect(created.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
  expect(created.find(({ status }) => status === 'rejected')).toMatchObject({
    reason: { code: 'ERR_CONFLICT', message: 'File /memories/a.md already exists' },
  })
  await Promise.all([
    tools[0]?.str_replace({ path, old_str: 'one', new_str: 'uno' }),
    tools[1]?.str_replace({ path, old_str: 'two', new_str: 'due' }),
  ])
  expect(await tools[0]?.view({ path })).toContain('uno\n     2\tdue')
})

it('keeps files and folders apart, and moves a folder with all that is in it', async () => {
  const tool = handlersOver()
  const conflict = expect.objectContaining({ code: 'ERR_CONFLICT' })
  await tool.create({ path: '/memories/a/b/c.md', file_text: 'c' })
  await tool.create({ path: '/memories/a/d.md', file_text: 'd' })
  await expect(tool.create({ path: '/memories/a/b', file_text: '' })).rejects.toEqual(conflict)
  await expect(tool.create({ path: '/memories/a/d.md/e', file_text: '' })).rejects.toEqual(conflict)
  await expect(tool.create({ path: '/memories', file_text: '' })).rejects.toEqual(conflict)
  await expect(tool.insert({ path: '/memories/a', insert_line: 0, insert_text: 'x' })).rejects.toThrow(
    'The path /memories/a is not a file.',
  )
  await expect(tool.rename({ old_path: '/memories/a', new_path: '/memories/a/x' })).rejects.toThrow(
    'into itself',
  )
  await expect(tool.rename({ old_path: '/memories/a', new_path: '/memories/a/b' })).rejects.toEqual(conflict)
  await tool.rename({ old_path: '/memories/a', new_path: '/memories/z/y' })
  expect(await tool.view({ path: '/memories/z' })).toMatch(/2B\t\/memories\/z\n2B\t.*\/y\/\n1B\t.*\/y\/b\/?/)
  expect(await tool.view({ path: '/memories/z/y/b/c.md' })).toContain('     1\tc')
  await expect(tool.view({ path: '/memories/a' })).rejects.toThrow('does not exist')
  await tool.delete({ path: '/memories/z' })
  expect((await tool.view({ path: '/memories' })).split('\n')).toHaveLength(2)
})

it('refuses what a document cannot hold, and says how large files are', async () => {
  const tool = handlersOver()
  await expect(tool.create({ path: '/memories/a', file_text: 'x'.repeat(40_000) })).rejects.toMatchObject({
    code: 'ERR_ENTRY_TOO_LARGE',
  })
  await expect(tool.create({ path: `/memories/${'x'.repeat(200)}`, file_text: '' })).rejects.toMatchObject({
    code: 'ERR_INVALID_ARGUMENT',
  })
  await expect(tool.view({ path: 7 as never })).rejects.toThrow('Path must start with /memories')
  await tool.create({ path: '/memories/a', file_text: 'x'.repeat(1_536) })
  await tool.create({ path: '/memories/b', file_text: 'x'.repeat(2_048) })
  const shown = await tool.view({ path: '/memories' })
  expect(shown).toContain('1.5K\t/memories/a\n2K\t/memories/b')
})

it('refuses an edit that is not one, and paths that are none, in the words that models know', async () => {
  const tool = handlersOver()
  const path = '/memories/a.md'
  await tool.create({ path: '/memories/./a.md', file_text: 'one\none' })
  await tool.create({ path: '/memories/.hidden/b', file_text: 'b' })
  await expect(tool.str_replace({ path, old_str: 'one', new_str: 'two' })).rejects.toThrow(
    'No replacement was performed. Multiple occurrences of old_str `one` in lines: 1, 2. Please ensure it is unique',
  )
  for (const insert_line of [-1, 3, Number.NaN])
    await expect(tool.insert({ path, insert_line, insert_text: 'x' })).rejects.toThrow(
      `Invalid \`insert_line\` parameter: ${insert_line}. It should be within the range of lines of the file: [0, 2]`,
    )
  await tool.insert({ path, insert_line: 2, insert_text: 'end\n' })
  expect(await tool.view({ path: '/memories/x/../a.md', view_range: [3, -1] })).toContain('     3\tend')
  expect(await tool.view({ path: '/memories' })).not.toContain('.hidden')
  for (const outside of ['/memoriesa.md', '/memories_backup/a.md'])
    await expect(tool.view({ path: outside })).rejects.toThrow('Path must start with /memories')
})

it('changes no file for a command that lacks a field, or has one of another kind', async () => {
  const handlers = handlersOver()
  const path = '/memories/a'
  await handlers.create({ path, file_text: 'one undefined' })
  const asked = [
    () => handlers.str_replace({ path, old_str: 'one' } as never),
    () => handlers.str_replace({ path, new_str: 'two' } as never),
    () => handlers.insert({ path, insert_line: 0 } as never),
    () => handlers.insert({ path, insert_line: 0.5, insert_text: 'two' }),
  ]
  for (const ask of asked) await expect(ask()).rejects.toMatchObject({ code: 'ERR_INVALID_ARGUMENT' })
  expect(await handlers.view({ path })).toContain('one undefined')
})

it('refuses a text that is not there, and one that grew too large, once', async () => {
  const tool = handlersOver()
  await tool.create({ path: '/memories/a', file_text: 'one' })
  const old = { path: '/memories/a', old_str: 'two', new_str: 'three' }
  await expect(tool.str_replace(old)).rejects.toThrow(/old_str `two` did not appear verbatim/)
  const large = { path: '/memories/a', old_str: 'one', new_str: 'x'.repeat(40_000) }
  await expect(tool.str_replace(large)).rejects.toMatchObject({ code: 'ERR_ENTRY_TOO_LARGE' })
  expect(await tool.view({ path: '/memories/a' })).toContain('one')
})

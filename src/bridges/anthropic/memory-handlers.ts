import { MODEL_FILES, type Profile } from '../../features/profile/profile.ts'
import { TRIES } from '../../kernel/log/once.ts'
import { isPlimsollError, PlimsollError } from '../../ports/errors.ts'
import type { ProfileDocument } from '../../ports/profile.ts'
import { utf8Length } from '../../ports/utf8-length.ts'

/** Whose files they are: `memory.user(…)` of a memory that has `profile()` in `use`. */
export interface MemoryFiles {
  readonly profile: Profile
}

/** What the tool is asked; as much of the SDK's commands as is read. */
interface ViewCommand {
  readonly path: string
  readonly view_range?: readonly number[]
}
interface CreateCommand {
  readonly path: string
  readonly file_text: string
}
interface ReplaceCommand {
  readonly path: string
  readonly old_str: string
  readonly new_str: string
}
interface InsertCommand {
  readonly path: string
  readonly insert_line: number
  readonly insert_text: string
}
interface DeleteCommand {
  readonly path: string
}
interface RenameCommand {
  readonly old_path: string
  readonly new_path: string
}

/** Fits what `betaMemoryTool` of `@anthropic-ai/sdk` takes. */
export interface MemoryHandlers {
  view(command: ViewCommand): Promise<string>
  create(command: CreateCommand): Promise<string>
  str_replace(command: ReplaceCommand): Promise<string>
  insert(command: InsertCommand): Promise<string>
  delete(command: DeleteCommand): Promise<string>
  rename(command: RenameCommand): Promise<string>
}

const ROOT = '/memories'
/** What documents are called that are its files. */
const PREFIX = MODEL_FILES
const NUMBER_WIDTH = 6
const DEEPEST = 2

/**
 * The commands of Anthropic's memory tool over documents of a user: the file `/memories/a/b.md` is
 * the document `memories/a/b.md`. So they are exported, copied and forgotten as documents are, but
 * no context shows them: what a model wrote is no instruction, and it reads them by `view`. Answers
 * and refusals have the texts of the SDK's own tool over a file system, which models know.
 *
 * There is nothing outside of `/memories`. A folder is there as long as it has files. With all
 * other documents of the user there are at most 64, of 32 KiB each, with names of at most 128
 * bytes; so ERR_LIMIT, ERR_ENTRY_TOO_LARGE and ERR_INVALID_ARGUMENT can be refusals, too. Edits of
 * two writers are both kept. A folder is renamed file by file once all new names are free, each
 * written before it is removed: where that ends early, the rest stands under the old name, and with
 * 64 documents nothing can be renamed.
 *
 * @throws ERR_NOT_CONFIGURED: the memory has no `profile()` in `use`
 * @example With a key of Anthropic:
 * ```ts
 * import Anthropic from '@anthropic-ai/sdk'
 * import { betaMemoryTool } from '@anthropic-ai/sdk/helpers/beta/memory'
 * import { memoryHandlers } from 'plimsoll/anthropic'
 *
 * const message = await new Anthropic().beta.messages.toolRunner({
 *   ...{ model: 'claude-sonnet-4-5', max_tokens: 1_000 },
 *   messages: [{ role: 'user', content: 'Which seat do I like?' }],
 *   tools: [betaMemoryTool(memoryHandlers(memory.user({ userId: 'ada' })))],
 * })
 * ```
 */
export function memoryHandlers(user: MemoryFiles): MemoryHandlers {
  const { profile } = user
  if (!profile)
    throw new PlimsollError('ERR_NOT_CONFIGURED', 'memoryHandlers: needs profile() in `use` of the memory')
  /** The files below a folder, by name. */
  async function filesIn(folder: string): Promise<readonly ProfileDocument[]> {
    const all = await profile.list()
    return all.filter(({ name }) => name.startsWith(folder === '' ? PREFIX : `${PREFIX}${folder}/`))
  }

  async function isThere(file: string): Promise<boolean> {
    if (file === '') return true
    return (await profile.get(PREFIX + file)) !== undefined || (await filesIn(file)).length > 0
  }

  /** Changes a file that is there; again if others changed it meanwhile. */
  async function edit(path: string, change: (text: string) => string): Promise<string> {
    const file = fileOf(path)
    for (let attempt = 1; ; attempt++) {
      const found = file === '' ? undefined : await profile.get(PREFIX + file)
      if (!found) {
        if (await isThere(file)) throw refused('ERR_INVALID_ARGUMENT', `The path ${path} is not a file.`)
        throw absent(path, '. Please provide a valid path.')
      }
      const text = change(found.text)
      try {
        await profile.set(found.name, text, { ifVersion: found.version })
        return text
      } catch (error) {
        if (!isPlimsollError(error, 'ERR_CONFLICT') || attempt === TRIES) throw error
      }
    }
  }

  /** That there is no such file, nor a folder, nor a file in the place of its folder. */
  async function checkFree(file: string, isTaken: () => PlimsollError): Promise<void> {
    const folders = file.split('/').slice(0, -1)
    for (const [index] of folders.entries()) {
      const folder = folders.slice(0, index + 1).join('/')
      if (await profile.get(PREFIX + folder)) throw exists(`${ROOT}/${folder}`)
    }
    if (await isThere(file)) throw isTaken()
  }

  async function add(file: string, text: string, isTaken: () => PlimsollError): Promise<void> {
    await checkFree(file, isTaken)
    try {
      await profile.set(PREFIX + file, text, { ifVersion: null })
    } catch (error) {
      throw isPlimsollError(error, 'ERR_CONFLICT') ? isTaken() : error
    }
  }

  return {
    async view({ path, view_range: range }) {
      const file = fileOf(path)
      const found = file === '' ? undefined : await profile.get(PREFIX + file)
      if (found) return `Here's the content of ${path} with line numbers:\n${numbered(found.text, range)}`
      const files = await filesIn(file)
      if (file !== '' && files.length === 0) throw absent(path, '. Please provide a valid path.')
      const skipped = (file === '' ? PREFIX : `${PREFIX}${file}/`).length
      const below = files.map(({ name, text }) => ({ name: name.slice(skipped), bytes: utf8Length(text) }))
      const lines = entriesOf(below).map(({ name, bytes }) => `${sizeOf(bytes)}\t${path}/${name}`)
      const size = sizeOf(below.reduce((sum, { bytes }) => sum + bytes, 0))
      const head = `Here're the files and directories up to 2 levels deep in ${path}, excluding hidden items and node_modules:`
      return [head, `${size}\t${path}`, ...lines].join('\n')
    },
    async create({ path, file_text }) {
      await add(fileOf(path), file_text, () => exists(path))
      return `File created successfully at: ${path}`
    },
    async str_replace({ path, old_str, new_str }) {
      checkTexts({ old_str, new_str })
      let at = 0
      const text = await edit(path, (before) => {
        const places = before.split('\n').flatMap((line, index) => (line.includes(old_str) ? index + 1 : []))
        const [first, second] = places
        if (first === undefined)
          throw refused(
            'ERR_INVALID_ARGUMENT',
            `No replacement was performed, old_str \`${old_str}\` did not appear verbatim in ${path}.`,
          )
        if (second !== undefined)
          throw refused(
            'ERR_INVALID_ARGUMENT',
            `No replacement was performed. Multiple occurrences of old_str \`${old_str}\` in lines: ${places.join(', ')}. Please ensure it is unique`,
          )
        at = first
        return before.replace(old_str, () => new_str)
      })
      const shown = numbered(text, [at - 2, at + 2])
      return `The memory file has been edited. Here is the snippet showing the change (with line numbers):\n${shown}`
    },
    async insert({ path, insert_line, insert_text }) {
      checkTexts({ insert_text })
      await edit(path, (before) => {
        const lines = before.split('\n')
        if (!(Number.isInteger(insert_line) && insert_line >= 0 && insert_line <= lines.length))
          throw refused(
            'ERR_INVALID_ARGUMENT',
            `Invalid \`insert_line\` parameter: ${insert_line}. It should be within the range of lines of the file: [0, ${lines.length}]`,
          )
        return lines.toSpliced(insert_line, 0, insert_text.replace(/\n$/, '')).join('\n')
      })
      return `The file ${path} has been edited.`
    },
    async delete({ path }) {
      const file = fileOf(path)
      if (file === '') throw refused('ERR_INVALID_ARGUMENT', `Cannot delete the ${ROOT} directory itself`)
      if (!(await isThere(file))) throw absent(path)
      for (const { name } of await filesIn(file)) await profile.delete(name)
      await profile.delete(PREFIX + file)
      return `Successfully deleted ${path}`
    },
    async rename({ old_path, new_path }) {
      const [from, to] = [fileOf(old_path), fileOf(new_path)]
      if (from === '') throw refused('ERR_INVALID_ARGUMENT', `Cannot rename the ${ROOT} directory itself`)
      const isTaken = () => refused('ERR_CONFLICT', `The destination ${new_path} already exists`)
      if (await isThere(to)) throw isTaken()
      const found = await profile.get(PREFIX + from)
      const files = found ? [found] : await filesIn(from)
      if (files.length === 0) throw absent(old_path)
      if (to.startsWith(`${from}/`))
        throw refused('ERR_INVALID_ARGUMENT', `Cannot move ${old_path} into itself`)
      const moves = files.map(({ name, text }) => {
        return { name, text, file: to + name.slice(PREFIX.length + from.length) }
      })
      for (const { file } of moves) await checkFree(file, isTaken)
      for (const { name, text, file } of moves) {
        await add(file, text, isTaken)
        await profile.delete(name)
      }
      return `Successfully renamed ${old_path} to ${new_path}`
    },
  }
}

/** The place of a path below the root, which is empty for the root itself. */
function fileOf(path: string): string {
  if (typeof path !== 'string' || !(path === ROOT || path.startsWith(`${ROOT}/`)))
    throw refused('ERR_INVALID_ARGUMENT', `Path must start with ${ROOT}, got: ${path}`)
  const labels: string[] = []
  for (const label of path.slice(ROOT.length).split('/')) {
    if (label === '' || label === '.') continue
    if (label !== '..') labels.push(label)
    else if (labels.pop() === undefined)
      throw refused('ERR_INVALID_ARGUMENT', `Path ${path} would escape ${ROOT} directory`)
  }
  return labels.join('/')
}

interface Entry {
  readonly name: string
  readonly bytes: number
}

/** Files and folders two levels deep, by name, each folder before what is in it. */
function entriesOf(files: readonly Entry[]): readonly Entry[] {
  const entries = new Map<string, number>()
  for (const { name, bytes } of files) {
    const labels = name.split('/')
    const hidden = labels.findIndex((label) => label.startsWith('.') || label === 'node_modules')
    const most = Math.min(DEEPEST, hidden < 0 ? labels.length : hidden)
    for (let depth = 1; depth <= most; depth++) {
      const isFolder = depth < labels.length
      const entry = labels.slice(0, depth).join('/') + (isFolder ? '/' : '')
      entries.set(entry, (entries.get(entry) ?? 0) + bytes)
    }
  }
  const order = ({ name }: Entry): string => name.replace(/\/$/, '').replaceAll('/', '\0')
  return [...entries]
    .map(([name, bytes]) => ({ name, bytes }))
    .sort((one, other) => (order(one) < order(other) ? -1 : 1))
}

/** @param range the first and the last line, from 1; -1: to the end. Default: all */
function numbered(text: string, range?: readonly number[]): string {
  const lines = text.split('\n')
  const [first = 1, last = -1] = range?.length === 2 ? range : []
  if (!Number.isInteger(first) || !Number.isInteger(last))
    throw refused(
      'ERR_INVALID_ARGUMENT',
      `Invalid \`view_range\` parameter: ${range}. It must be two line numbers`,
    )
  const from = Math.max(1, first)
  return lines
    .slice(from - 1, last === -1 ? lines.length : last)
    .map((line, index) => `${String(from + index).padStart(NUMBER_WIDTH)}\t${line}`)
    .join('\n')
}

function sizeOf(bytes: number): string {
  const unit = bytes < 1024 ? 'B' : bytes < 1024 ** 2 ? 'K' : 'M'
  const size = bytes / { B: 1, K: 1024, M: 1024 ** 2 }[unit]
  return (size % 1 === 0 ? String(size) : size.toFixed(1)) + unit
}

function exists(path: string): PlimsollError {
  return refused('ERR_CONFLICT', `File ${path} already exists`)
}

function absent(path: string, more = ''): PlimsollError {
  return refused('ERR_NOT_FOUND', `The path ${path} does not exist${more}`)
}

/** A model may leave a field out, whatever the tool's schema says. @throws ERR_INVALID_ARGUMENT */
function checkTexts(fields: Readonly<Record<string, unknown>>): void {
  for (const [name, value] of Object.entries(fields))
    if (typeof value !== 'string')
      throw refused('ERR_INVALID_ARGUMENT', `Invalid \`${name}\` parameter: it must be a text`)
}

function refused(
  code: 'ERR_INVALID_ARGUMENT' | 'ERR_NOT_FOUND' | 'ERR_CONFLICT',
  reason: string,
): PlimsollError {
  return new PlimsollError(code, reason)
}

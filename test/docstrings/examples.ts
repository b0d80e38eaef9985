/**
 * The examples of docstrings, each as a module. Names that an example uses and does not make are
 * imported from a file of `scope/`; where it runs, it says itself behind `@example`.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

export interface Example {
  /** Of the file, from the project's folder, and of the example's first line, from 1. */
  readonly file: string
  readonly line: number
  readonly place: Place
  readonly ending: 'ts' | 'tsx'
  readonly code: string
}

/**
 * `In a Worker:`; `In a browser:`; `With …:`, which needs a server or a key. Anything else runs in
 * Node.
 */
export type Place = 'worker' | 'browser' | 'online' | 'node'

/** Those of classes that no entry exports: they name what is beside them. */
const INTERNAL = ['src/chat/open-chat.ts', 'src/edge/work/work-queue.ts']
const EXAMPLE = /@example ?(.*)\n\s*\* ```(tsx?)\n([\s\S]*?)\n\s*\* ```/g

/** @throws an example that is no block of code */
export function examplesIn(root: string): readonly Example[] {
  const files = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
    .map((file) => `src/${file.replaceAll('\\', '/')}`)
    .filter((file) => file.endsWith('.ts') && !INTERNAL.includes(file))
  return files.sort().flatMap((file) => {
    const text = readFileSync(join(root, file), 'utf8')
    const said = text.split('@example').length - 1
    const found = [...text.matchAll(EXAMPLE)].length
    if (said !== found)
      throw new Error(`${file} has ${said} examples, ${said - found} of them no block of code`)
    return [...text.matchAll(EXAMPLE)].map((match): Example => {
      const [, title = '', ending = '', shown = ''] = match
      const line = text.slice(0, match.index).split('\n').length
      return {
        ...{ file, line, place: placeOf(title), ending: ending === 'tsx' ? 'tsx' : 'ts' },
        code: shown.replace(/^\s*\* ?/gm, ''),
      }
    })
  })
}

function placeOf(title: string): Place {
  if (title.startsWith('In a Worker')) return 'worker'
  if (title.startsWith('In a browser')) return 'browser'
  return title.startsWith('With ') ? 'online' : 'node'
}

/** Files of `scope/`: the first that has a name gives it. */
function scopesOf({ file, place }: Example): readonly string[] {
  if (place === 'worker') return ['worker']
  if (file.startsWith('src/bridges/ai-sdk/')) return ['ai-sdk']
  if (file.startsWith('src/bridges/lang') || file.startsWith('src/bridges/openai')) return ['bridges']
  return file.startsWith('src/client/') ? ['client', 'node'] : ['node']
}

/**
 * The module of an example, in a folder in the project's own.
 *
 * @param scope path of the folder `scope/`
 */
export function moduleOf(example: Example, scope: string): string {
  const given = new Set<string>()
  const imports = scopesOf(example).flatMap((name) => {
    const exported = readFileSync(join(import.meta.dirname, 'scope', `${name}.ts`), 'utf8')
    const names = [...exported.matchAll(/^export (?:const|interface) (\w+)/gm)].map(([, one = '']) => one)
    const taken = names.filter((one) => isFree(example.code, one) && !given.has(one))
    for (const one of taken) given.add(one)
    return taken.length === 0
      ? []
      : [`import { ${taken.map(imported(exported)).join(', ')} } from '${scope}/${name}.ts'`]
  })
  return [...imports, example.code, 'export {}', ''].join('\n')
}

/** Types are imported as such, so that the module runs when they are stripped. */
function imported(exported: string): (name: string) => string {
  return (name) => (exported.includes(`export interface ${name} `) ? `type ${name}` : name)
}

/** Whether code uses a name that it does not make. */
function isFree(code: string, name: string): boolean {
  const used = new RegExp(`(?<![\\w'-])(?<!(?<!\\.\\.)\\.)${name}\\b(?!:|')`)
  const made = [
    `(?:const|class|function) ${name}\\b`,
    `(?:const|import(?: type)?) \\{[^}]*\\b${name}\\b[^}]*\\} (?:=|from)`,
    `function \\w+\\(\\{[^}]*\\b${name}\\b`,
  ]
  return used.test(code) && !new RegExp(made.join('|')).test(code)
}

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Plugin } from 'vite'

const root = import.meta.dirname

/** A package of which something was bundled. */
interface Bundled {
  readonly folder: string
  readonly name: string
  readonly version: string
  /** As its `package.json` says it. */
  readonly license: string
}

/**
 * Writes a file beside the bundle, `LICENSES.txt` by default: the licence of every package of which
 * it holds something, and of this one.
 */
export function bundledLicenses(fileName = 'LICENSES.txt'): Plugin {
  return {
    name: 'bundled-licenses',
    generateBundle(_, bundle) {
      const moduleIds = Object.values(bundle).flatMap((file) => (file.type === 'chunk' ? file.moduleIds : []))
      this.emitFile({ type: 'asset', fileName, source: licensesOf(moduleIds) })
    },
  }
}

/**
 * The licences of the packages that these modules are from, ordered by name.
 *
 * @throws Error: one of them has no text of a licence, neither its own nor among those of
 * `WITHOUT_FILE`
 */
export function licensesOf(moduleIds: readonly string[]): string {
  const folders = new Set(moduleIds.map(folderOf))
  const packages = [...folders].map(packageIn).sort((one, other) => (one.name < other.name ? -1 : 1))
  return packages.map((one) => `${headingOf(one)}\n\n${textsOf(one).join('\n\n')}\n`).join('\n\n')
}

/** Where the package of a module is: what is in no package of its own is of this one. */
function folderOf(id: string): string {
  if (id.startsWith('\0rolldown/')) return join(root, 'node_modules/rolldown')
  // The innermost, where a package has packages of its own. Modules that a plugin made of others
  // begin with a NUL.
  const [, found = root] = /^\0?(.*[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+)[\\/]/.exec(id) ?? []
  return found
}

function packageIn(folder: string): Bundled {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  return { folder, name, version, license }
}

function headingOf({ name, version, license }: Bundled): string {
  const heading = `${name} ${version}: ${license}`
  return `${heading}\n${'='.repeat(heading.length)}`
}

/** The licence, and what Apache's asks to be handed on with it. */
function textsOf({ folder, name, version }: Bundled): readonly string[] {
  const files = readdirSync(folder)
  const read = (pattern: RegExp): string[] =>
    files.filter((file) => pattern.test(file)).map((file) => readFileSync(join(folder, file), 'utf8').trim())
  const own = read(/^(?:licen[cs]e|copying)(?:\.\w+)?$/i)
  const texts = own.length > 0 ? own : [WITHOUT_FILE[name]].filter((text) => text !== undefined)
  if (texts.length === 0) throw new Error(`${name} ${version} is bundled and has no text of its licence`)
  return [...texts, ...read(/^notice(?:\.\w+)?$/i)]
}

const MIT = `Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated documentation files
(the "Software"), to deal in the Software without restriction, including without limitation the rights to use, copy, modify, merge,
publish, distribute, sublicense, and/or sell copies of the Software, and to permit persons to whom the Software is furnished to do
so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF
MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE
FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION
WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.`

/** Of packages that come without the text of the licence that they name. */
const WITHOUT_FILE: Readonly<Record<string, string>> = {
  '@cfworker/json-schema': `MIT License

Copyright (c) Jeremy Danyow
With parts of punycode.js, copyright Mathias Bynens <https://mathiasbynens.be/>,
and of ajv, copyright (c) 2015-2021 Evgeny Poberezkin

${MIT}`,
}

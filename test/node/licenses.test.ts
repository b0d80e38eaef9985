import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { licensesOf } from '../../vite.licenses.ts'

const folder = mkdtempSync(join(tmpdir(), 'plimsoll-licenses-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** A module of a package with these files beside its `package.json`. */
function moduleOf(name: string, files: Readonly<Record<string, string>>): string {
  const place = join(folder, 'node_modules', name)
  const manifest = JSON.stringify({
    name: name.split('/node_modules/').at(-1),
    version: '1.2.3',
    license: 'MIT',
  })
  const all = { ...files, 'package.json': manifest, 'dist/index.js': '' }
  for (const [file, text] of Object.entries(all)) {
    mkdirSync(dirname(join(place, file)), { recursive: true })
    writeFileSync(join(place, file), text)
  }
  return join(place, 'dist/index.js')
}

describe('the licences of a bundle', () => {
  it('are those of all packages of which it holds a module, each once, by name', () => {
    const second = moduleOf('second', { 'LICENCE.md': 'of the second' })
    const first = moduleOf('@scope/first', { LICENSE: 'of the first\n' })
    expect(licensesOf([second, first, join(dirname(first), 'other.js')])).toBe(
      [
        '@scope/first 1.2.3: MIT\n=======================\n\nof the first\n',
        'second 1.2.3: MIT\n=================\n\nof the second\n',
      ].join('\n\n'),
    )
  })

  it('hold the notice of a package that has one, and no other file that is named like a licence', () => {
    const id = moduleOf('noticed', { LICENSE: 'terms', NOTICE: 'by whom', 'license-check.js': 'code' })
    expect(licensesOf([id])).toMatch(/terms\n\nby whom\n$/)
    expect(licensesOf([id])).not.toContain('code')
  })

  it('are those of the package inside of another one, where a module is from there', () => {
    const id = moduleOf('outer/node_modules/inner', { LICENSE: 'of the inner' })
    expect(licensesOf([id])).toMatch(/^inner 1\.2\.3: MIT\n/)
  })

  it('are those of a package too of whose module a plugin made another one', () => {
    const id = moduleOf('wrapped', { LICENSE: 'of the wrapped' })
    expect(licensesOf([`\0${id}?proxy`])).toMatch(/^wrapped 1\.2\.3: MIT\n/)
  })

  it('are this library’s own for its own modules, and for what its build puts in their place', () => {
    const source = join(import.meta.dirname, '../../src/chat/tag.ts')
    expect(licensesOf([source, '\0vite/preload-helper.js'])).toMatch(/^plimsoll .*: MIT\n=+\n\nMIT License\n/)
    expect(licensesOf([source, '\0vite/preload-helper.js']).match(/^=+$/gm)).toHaveLength(1)
    expect(licensesOf(['\0rolldown/runtime.js'])).toMatch(/^rolldown /)
  })

  it('cannot be written without the text of one of them: the build fails', () => {
    const id = moduleOf('without', { 'README.md': 'MIT' })
    expect(() => licensesOf([id])).toThrow('without 1.2.3 is bundled and has no text of its licence')
  })

  it('of a package that names a licence and has no text of it are kept here', () => {
    const id = moduleOf('@cfworker/json-schema', {})
    expect(licensesOf([id])).toContain('Copyright (c) Jeremy Danyow')
  })
})

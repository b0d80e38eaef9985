import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import manifest from '../../package.json' with { type: 'json' }

const root = new URL('../../', import.meta.url)

/** The source that `tsc` turns into a file of dist/. */
const sourceOf = (output: string) => output.replace('./dist/', './').replace(/(\.d\.ts|\.js)$/, '.ts')

/** Sources of what is published. */
const published = () =>
  ['src', 'test/contract'].flatMap((folder) =>
    readdirSync(new URL(`${folder}/`, root), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts'))
      .map((file) => `${folder}/${file}`),
  )

const outputs = Object.values(manifest.exports)
  .flatMap((target) => (typeof target === 'string' ? [] : [target.types, target.default]))
  .concat(manifest.bin.plimsoll)

test.each(outputs)('the package entry %s is built from a source that exists', (output) => {
  expect(existsSync(new URL(sourceOf(output), root))).toBe(true)
})

test('types come first in each export, since the first matching condition wins', () => {
  for (const target of Object.values(manifest.exports)) {
    if (typeof target !== 'string') expect(Object.keys(target)[0]).toBe('types')
  }
})

test('no packages but the hashes of encryption and the validator come with the library', () => {
  expect(Object.keys(manifest.dependencies)).toEqual(['@cfworker/json-schema', '@noble/hashes'])
})

test('every peer is optional and of any version, so that no project is kept from installing the library', () => {
  for (const [peer, range] of Object.entries(manifest.peerDependencies)) {
    expect(manifest.peerDependenciesMeta).toHaveProperty([peer, 'optional'], true)
    expect([peer, range]).toEqual([peer, '*'])
  }
})

test('what the library imports is a dependency or a declared peer', () => {
  const declared = new Set(Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies }))
  for (const file of published()) {
    const source = readFileSync(new URL(file, root), 'utf8').replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '')
    for (const [, specifier = ''] of source.matchAll(/(?:\bfrom |\bimport |\bimport\()'([^'.][^']*)'/g)) {
      const [name = ''] = /^(?:@[^/]+\/)?[^/]+/.exec(specifier) ?? []
      if (/^(?:node|cloudflare):/.test(specifier)) continue
      expect(declared, `${file} imports ${specifier}`).toContain(name)
    }
  }
})

test('what calls React’s hooks says that it is for the client, as React’s servers ask', () => {
  const hooked = published().filter((file) => /from 'react'/.test(readFileSync(new URL(file, root), 'utf8')))
  expect(hooked).toContain('src/bridges/react.ts')
  for (const file of hooked.filter((file) => !file.startsWith('src/chat/jsx/'))) {
    const script = readFileSync(new URL(`dist/${file.replace(/ts$/, 'js')}`, root), 'utf8')
    expect([file, script]).toEqual([file, expect.stringMatching(/^['"]use client['"];\n/)])
  }
})

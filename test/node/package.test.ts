import { existsSync } from 'node:fs'
import { expect, test } from 'vitest'
import manifest from '../../package.json' with { type: 'json' }

const root = new URL('../../', import.meta.url)

/** The source that `tsc` turns into a file of dist/. */
const sourceOf = (output: string) => output.replace('./dist/', './').replace(/(\.d\.ts|\.js)$/, '.ts')

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

test('no packages but the hashes and the validator come with the library', () => {
  expect(Object.keys(manifest.dependencies)).toEqual(['@cfworker/json-schema', '@noble/hashes'])
  for (const peer of Object.keys(manifest.peerDependencies)) {
    expect(manifest.peerDependenciesMeta).toHaveProperty([peer, 'optional'], true)
  }
})

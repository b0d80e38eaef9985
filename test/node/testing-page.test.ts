/** The program of docs/testing.md is a test, which joins those of this file. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { blocksOf, moduleOf } from '../install/blocks.ts'

const root = resolve(import.meta.dirname, '../..')
const [block] = blocksOf('docs/testing.md', readFileSync(join(root, 'docs/testing.md'), 'utf8'))
if (!block) throw new Error('docs/testing.md has no program')
mkdirSync(join(root, 'dist'), { recursive: true })
// In the project, where its imports are found.
const folder = mkdtempSync(join(root, 'dist/testing-'))
try {
  writeFileSync(join(folder, block.file), moduleOf(block))
  await import(/* @vite-ignore */ join(folder, block.file))
} finally {
  rmSync(folder, { recursive: true, force: true })
}

import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { InputError, recordingsIn } from '../../../bench/recordings.ts'

const folder = mkdtempSync(join(tmpdir(), 'plimsoll-'))
afterAll(() => rmSync(folder, { recursive: true }))
const line = JSON.stringify({ id: 'a', messages: [{ role: 'user', content: 'Hi.' }] })

describe('recordings for a bench', () => {
  test('are those of all files, with where they stand', async () => {
    writeFileSync(join(folder, 'b.jsonl'), `${line}\n\n${line}\n`)
    writeFileSync(join(folder, 'a.jsonl'), line)
    writeFileSync(join(folder, 'notes.txt'), 'no recording')
    const places = (await recordingsIn(folder)).map(({ file, line }) => [file, line])
    expect(places).toEqual([
      ['a.jsonl', 1],
      ['b.jsonl', 1],
      ['b.jsonl', 3],
    ])
    expect((await recordingsIn(folder, 'b.jsonl')).length).toBe(2)
  })

  test('that are not there, or cannot be read, are an error that says so', async () => {
    writeFileSync(join(folder, 'broken.jsonl'), `${line}\n{`)
    for (const [path, only, reason] of [
      [join(folder, 'none'), undefined, /cannot read .*none: ENOENT/],
      [folder, 'none.jsonl', /cannot read .*none\.jsonl: ENOENT/],
      [folder, 'broken.jsonl', /broken\.jsonl line 2: /],
      [import.meta.dirname, undefined, /has no recordings/],
    ] as const) {
      const refused = await recordingsIn(path, only).catch((error: unknown) => error)
      expect(refused).toBeInstanceOf(InputError)
      expect((refused as Error).message).toMatch(reason)
    }
  })

  test('end a bench with one sentence and status 1', () => {
    const run = join(import.meta.dirname, '../../../bench/run.ts')
    for (const [argv, sentence] of [
      [['recall', '--transcripts', join(folder, 'none')], /^bench: --transcripts .*none is not a folder\n$/],
      [['picture', '--data', folder], /^bench: picture: cannot read .*: ENOENT\n$/],
    ] as const) {
      const { status, stderr } = spawnSync(process.execPath, [run, ...argv], { encoding: 'utf8' })
      expect([status, stderr]).toEqual([1, expect.stringMatching(sentence)])
    }
  })
})

import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { loadO200k } from '../../../src/counters/o200k.ts'
import { assertFits } from '../../../src/render/fits.ts'
import { plimsoll } from '../support/command.ts'

const trip = fileURLToPath(new URL('../../../examples/trip.jsonl', import.meta.url))

describe('replay --counter default', () => {
  for (const provider of ['openai', 'anthropic'])
    for (const budget of [1_500, 3_000, 8_000])
      test(`sends no request over a line at ${budget} by the exact count, to ${provider}`, async () => {
        const o200k = await loadO200k()
        const { written, status } = await plimsoll(
          [
            'replay',
            'a.jsonl',
            '--counter',
            'default',
            '--budget',
            `${budget}`,
            '--provider',
            provider,
          ].concat('--requests', 'out.jsonl'),
          { 'a.jsonl': await readFile(trip, 'utf8') },
        )
        expect(status).toBe(0)
        const lines = written['out.jsonl'] ?? []
        expect(lines.length).toBe(35)
        for (const line of lines) {
          const { request, used } = JSON.parse(line)
          const exact = assertFits(request, o200k, budget)
          expect(used).toBeGreaterThan(exact * 0.9)
        }
      })
})

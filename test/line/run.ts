/**
 * `npm run test:line -- [contexts] [--seed N]`: random conversations of all that a counter by
 * estimate could get wrong, with the default counter. No rendered request may have more tokens of
 * o200k than the line allows. It counts with gpt-tokenizer, and shares no code with the library's
 * own checks.
 */
import { parseArgs } from 'node:util'
import { check } from './check.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { seed: { type: 'string', default: '1' } },
})
const contexts = Number(positionals[0] ?? 1_000)
if (!Number.isInteger(contexts) || contexts < 1)
  throw new Error(`the number of contexts must be a whole one above 0, not ${positionals[0]}`)

const { made, refused, above, fullest } = await check({ contexts, seed: Number(values.seed) })
console.log(
  `--seed ${values.seed}: ${made} contexts, ${refused} refused, ${above.length} above the line by o200k; ` +
    `the fullest at ${(100 * fullest).toFixed(1)} % of it`,
)
for (const line of above.slice(0, 5)) console.log(line)
if (above.length > 0) process.exitCode = 1

/**
 * `npm run bench -- <name> [--json] [--quick] [--data DIR] [--transcripts DIR] [--out FILE]
 * [--against DIR]`
 */
import { statSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { runAll } from './all.ts'
import { benches } from './benches.ts'
import { InputError } from './recordings.ts'

const usage = `Usage: npm run bench -- <name> [--json] [--quick] [--data DIR] [--transcripts DIR] [--out FILE] [--against DIR]

${Object.entries(benches)
  .map(([name, { about }]) => `  ${name.padEnd(8)} ${about}\n`)
  .join('')}  all      every suite, into docs/benchmarks.md and docs/plots/
  --json         one JSON object instead of tables
  --quick        smaller sizes and samples
  --data         folder with recordings, for benches that replay them; with LoCoMo, for recall and shown
  --transcripts  folder with recordings, for recall
  --out          file for what recall finds, by question, or for the picture
  --against      another checkout, installed: CPU time of each call of the edge beside its own
`

process.exitCode = await main()

async function main(): Promise<number> {
  let parsed: ReturnType<typeof parse>
  try {
    parsed = parse()
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n\n${usage}`)
    return 2
  }
  const { values, positionals } = parsed
  const [name, ...more] = positionals
  if (name === undefined) {
    process.stdout.write(usage)
    return 0
  }
  if ((name !== 'all' && !Object.hasOwn(benches, name)) || more.length > 0) {
    process.stderr.write(`Unknown bench: ${positionals.join(' ')}\n\n${usage}`)
    return 2
  }
  const options = {
    quick: values.quick,
    ...(values.data !== undefined && { data: values.data }),
    ...(values.transcripts !== undefined && { transcripts: values.transcripts }),
    ...(values.out !== undefined && { out: values.out }),
    ...(values.against !== undefined && { against: values.against }),
    progress: (line: string) => void process.stderr.write(`${line}\n`),
  }
  for (const option of ['data', 'transcripts', 'against'] as const) {
    const folder = values[option]
    if (folder === undefined || statSync(folder, { throwIfNoEntry: false })?.isDirectory()) continue
    return say(`--${option} ${folder} is not a folder`)
  }
  if (name === 'all') {
    if (values.json || values.out !== undefined || values.against !== undefined) {
      process.stderr.write('all takes --quick, --data and --transcripts\n')
      return 2
    }
    return (await runAll(options)) ? 0 : 1
  }
  const { bench } = await (benches[name] as (typeof benches)[string]).load()
  try {
    const report = await bench(options)
    process.stdout.write(values.json ? `${JSON.stringify(report.json, null, 2)}\n` : report.text)
    return 0
  } catch (error) {
    if (!(error instanceof InputError)) throw error
    return say(`${name}: ${error.message}`)
  }
}

function say(fault: string): number {
  process.stderr.write(`bench: ${fault}\n`)
  return 1
}

function parse() {
  return parseArgs({
    allowPositionals: true,
    options: {
      json: { type: 'boolean', default: false },
      quick: { type: 'boolean', default: false },
      data: { type: 'string' },
      transcripts: { type: 'string' },
      out: { type: 'string' },
      against: { type: 'string' },
    },
  })
}

/** One suite in a process of its own, for `all.ts`. Sends its report. */
import type { BenchOptions } from './bench.ts'
import { benches } from './benches.ts'
import { send } from './child.ts'

const [name = '', options = '{}'] = process.argv.slice(2)
const suite = benches[name]
if (!suite) throw new Error(`Unknown bench: ${name}`)
const { bench } = await suite.load()
const progress = (line: string): void => void process.stderr.write(`${line}\n`)
await send(await bench({ ...(JSON.parse(options) as Omit<BenchOptions, 'progress'>), progress }))

/**
 * Runs modules one after the other, and prints for each why it failed, as a line of JSON. The
 * library is the sources, by their names.
 */
import { registerHooks } from 'node:module'
import { pathToFileURL } from 'node:url'
import { entryFile } from './entries.ts'

registerHooks({
  resolve: (name, context, next) => {
    const file = entryFile(name)
    return file === undefined ? next(name, context) : { url: pathToFileURL(file).href, shortCircuit: true }
  },
})
// What an example says is its own affair.
const print = console.log
console.log = () => {}

for (const file of process.argv.slice(2))
  try {
    await import(pathToFileURL(file).href)
    print(JSON.stringify({ file }))
  } catch (error) {
    print(JSON.stringify({ file, failure: String((error as Error).stack) }))
  }
process.exit()

/** Loads the instrumented modules in place of the sources, and `vitest.ts` in place of Vitest. */
import { registerHooks } from 'node:module'
import { relative } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { source } from '../source.ts'
import { instrumented, root } from './suites.ts'

const modules = instrumented()
const replaced = pathToFileURL(`${import.meta.dirname}/vitest.ts`).href
// The first difference of two histories is enough, and shrinking one takes a minute.
const UNSHRUNK = 'export const shrunk = async (history) => history'

registerHooks({
  resolve(specifier, context, next) {
    if (specifier === 'vitest' && context.parentURL !== replaced) return { url: replaced, shortCircuit: true }
    const alias = source.alias.find(({ find }) => find.test(specifier))
    return alias ? next(pathToFileURL(alias.replacement).href, context) : next(specifier, context)
  },
  load(url, context, next) {
    if (!url.startsWith('file:')) return next(url, context)
    const file = relative(root, fileURLToPath(url))
    const text = file === 'test/oracle/shrink.ts' ? UNSHRUNK : modules.get(file)?.text
    if (text === undefined) return next(url, context)
    return { format: 'module-typescript', source: text, shortCircuit: true }
  },
})

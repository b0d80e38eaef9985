/**
 * `npm run test:strangers`: what a stranger does with each bridge. Packs the library, installs it
 * in a fresh folder beside what the bridge joins, checks the program of `strangers/` under strict
 * types, and runs it twice, in processes of their own: the second has to know what the first was
 * told. Prints the seconds of all that but the packing. Needs a registry; about a minute each.
 * `--only ai-sdk`: those of that name.
 */
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { parseAst } from 'vite'
import { packed, project, run } from './library.ts'

/** What is installed beside the library, by program. */
const BESIDE: Readonly<Record<string, readonly string[]>> = {
  langchain: ['@langchain/core@1.4.0'],
  'openai-agents': ['@openai/agents@0.20.0', 'zod@^4.6.6'],
  mcp: ['@modelcontextprotocol/server@2.4.0', '@modelcontextprotocol/client@2'],
  'assistant-ui': ['@assistant-ui/react@0.15.20', 'react@19', 'react-dom@19', '@types/react@19'],
  langgraph: ['@langchain/langgraph@1.7.3', '@langchain/core@1.4.0'],
  anthropic: ['@anthropic-ai/sdk@1.12.0'],
  'ai-sdk-5': ['ai@5.0.277', 'zod@^4.6.6'],
  'ai-sdk-6': ['ai@6.0.326', 'zod@^4.6.6'],
  'ai-sdk-7': ['ai@7.0.173', 'zod@^4.6.6'],
}
/** What is checked with it beside the path, by program. */
const ALSO: Readonly<Record<string, string>> = { 'assistant-ui': 'assistant-ui-versions.ts' }
const MOST_STATEMENTS = 15
const SECRET = 'The code is 7 lemons'
const compilerOptions = {
  target: 'ES2023',
  module: 'nodenext',
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  skipLibCheck: true,
  noEmit: true,
  types: ['node'],
}

/** From nothing to a conversation that is remembered. @returns seconds */
function walk(folder: string, tarball: string, name: string): number {
  const started = Date.now()
  project(folder, tarball, [...(BESIDE[name] ?? []), 'typescript@~7.0.0', '@types/node@24'])
  const file = `${name}.ts`
  const also = ALSO[name]
  const files = [file, ...(also === undefined ? [] : [also])]
  for (const one of files) cpSync(join(import.meta.dirname, 'strangers', one), join(folder, one))
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }))
  run(folder, process.execPath, 'node_modules/typescript/bin/tsc', '-p', '.')
  run(folder, process.execPath, file, SECRET)
  const answer = run(folder, process.execPath, file, 'What is the code?')
  if (!answer.includes(SECRET)) throw new Error(`it has forgotten: ${answer}`)
  if (also !== undefined) run(folder, process.execPath, also)
  return (Date.now() - started) / 1000
}

const { values } = parseArgs({ options: { only: { type: 'string', default: '' } } })
const workplace = mkdtempSync(join(tmpdir(), 'plimsoll-strangers-'))
let failures = 0
try {
  const tarball = packed(workplace, '--ignore-scripts')
  for (const name of Object.keys(BESIDE).filter((one) => one.includes(values.only))) {
    const source = readFileSync(join(import.meta.dirname, 'strangers', `${name}.ts`), 'utf8')
    const { length } = parseAst(stripTypeScriptTypes(source)).body
    try {
      const seconds = walk(join(workplace, name), tarball, name)
      const isShort = length <= MOST_STATEMENTS
      if (!isShort) failures++
      console.log(
        `${isShort ? 'ok      ' : 'TOO LONG'}  ${name}: ${length} statements, ${seconds.toFixed(0)} s`,
      )
    } catch (error) {
      failures++
      const { stdout = '', message } = error as Error & { readonly stdout?: string }
      console.log(`FAILED    ${name}: ${message}\n${stdout}`)
    }
  }
} finally {
  rmSync(workplace, { recursive: true, force: true })
}
process.exitCode = failures === 0 ? 0 : 1

/**
 * What the folders of `src/` may import of each other, and the rules that follow from it; each is a
 * function of all sources.
 */
import { posix } from 'node:path'

/** The texts of all files of `src/`, by path: `src/kernel/memory.ts`. */
export type Sources = ReadonlyMap<string, string>

const below = ['ports', 'text', 'kernel', 'forgetting', 'features', 'operations']

/**
 * For each folder of `src/` the folders and files that it imports beside itself. What stands
 * further down is more specific. The packages of each are in `biome.json`.
 */
const arrows: { readonly [folder: string]: readonly string[] } = {
  ports: [],
  hashes: [],
  text: ['ports', 'hashes'],
  kernel: ['ports', 'hashes', 'text'],
  forgetting: ['ports', 'text', 'kernel'],
  features: ['ports', 'text', 'kernel', 'forgetting'],
  operations: ['ports', 'text', 'kernel', 'forgetting', 'features'],
  render: ['ports', 'text', 'kernel'],
  stores: ['ports'],
  counters: ['ports'],
  client: ['ports'],
  platform: ['ports'],
  'stores/encrypted': ['ports', 'text', 'kernel', 'platform'],
  sync: ['ports', 'text', 'kernel', 'forgetting', 'platform'],
  agent: [...below, 'counters/simple.ts'],
  bridges: ['ports', 'text/fence.ts', 'kernel/log/message.ts'],
  'bridges/ai-sdk': [...below, 'render', 'platform', 'agent/memory-tools.ts'],
  'bridges/mcp': [
    ...below,
    'agent/memory-tools.ts',
    'agent/session-start-guide.ts',
    'agent/agent-session.ts',
  ],
  'bridges/anthropic': ['ports', 'text', 'kernel', 'features'],
  'bridges/langgraph': [...below, 'platform'],
  'bridges/assistant-ui': [...below, 'bridges/ai-sdk'],
  'bridges/langchain': [...below, 'render', 'bridges/shapes.ts'],
  'bridges/openai-agents': [...below, 'render', 'bridges/shapes.ts'],
  replay: [...below, 'render', 'platform', 'stores/map.ts', 'create-memory.ts'],
  inspector: [...below, 'render', 'replay', 'counters', 'client'],
  'inspector/model': [...below, 'render', 'replay', 'counters', 'inspector/strings'],
  chat: [
    ...below,
    // What its panel of requests shows.
    'inspector/model',
    'inspector/strings',
    'inspector/view/steps-view.ts',
    'replay/words.ts',
    'agent',
    'client',
    'render',
    'platform',
    'sync',
    'stores/indexed-db.ts',
    'create-memory.ts',
    'run-agent.ts',
  ],
  edge: [
    ...below,
    'agent',
    'bridges/ai-sdk',
    'bridges/mcp',
    'render',
    'counters',
    'stores',
    'sync',
    'platform',
    'create-memory.ts',
    'inline-attachments.ts',
  ],
  cli: [
    ...below,
    'client',
    'render',
    'replay',
    'counters',
    'stores',
    'create-memory.ts',
    'bridges/ai-sdk/from-model-messages.ts',
    'bridges/ai-sdk/from-ui.ts',
    'bridges/langchain/stored.ts',
  ],
}

/**
 * The files in `src/` itself wire; no folder imports one that is not named above, and nothing
 * `index.ts`.
 */
const wiring = [...below, 'agent', 'render', 'counters', 'stores', 'platform']

/** The folder of `features/` that all of it may import. */
const SHARED_FEATURE = 'text'
/** Say what a feature is: types over the whole kernel, so that each part of it may import them. */
const SEAM = ['src/kernel/feature.ts', 'src/kernel/cover.ts']

/**
 * Words of features and operations; what the folders in `features/` are called, and their features
 * export, joins them.
 */
const foreignWords = [
  ...['fact', 'skill', 'compact', 'extract', 'extraction'],
  ...['retention', 'transfer', 'certificate', 'audit'],
]
/** What holds such a word in the kernel and names no feature. */
const fieldsOwn: { readonly [name: string]: string } = {
  Extract: 'a type of the language',
  TransferPart: 'what an export may leave out: said by each kind of register',
  'transfer.ts': 'where ports/ has that type',
}

/** An import of another file: packages are Biome's. */
interface Import {
  /** Its path from the root. */
  readonly to: string
  readonly isType: boolean
}

const staticImport = /^(?:import|export)\s(type\s)?(?:[^'"`=()]*?\bfrom )?'(\.[^']+)'/gm
const dynamicImport = /^(?!\s*(?:\*|\/\/)).*?\bimport\('(\.[^']+)'\)/gm

function importsOf(path: string, text: string): readonly Import[] {
  const from = posix.dirname(path)
  return [
    ...[...text.matchAll(staticImport)].map(([, type, to = '']) => ({
      to: posix.join(from, to),
      isType: type !== undefined,
    })),
    ...[...text.matchAll(dynamicImport)].map(([, to = '']) => ({ to: posix.join(from, to), isType: false })),
  ]
}

/** The imports of all files, by path. */
type Imports = ReadonlyMap<string, readonly Import[]>

/** What breaks a rule, one line each; empty where nothing does. */
export function violations(sources: Sources): readonly string[] {
  const imports = new Map([...sources].map(([path, text]) => [path, importsOf(path, text)] as const))
  return [
    ...forbidden(imports),
    ...betweenFeatures(imports),
    ...folderCycles(imports),
    ...contextCycles(imports),
    ...loadedBySeam(imports),
    ...namesInKernel(sources),
  ]
}

function isIn(path: string, folder: string): boolean {
  return path === `src/${folder}` || path.startsWith(`src/${folder}/`)
}

function forbidden(imports: Imports): readonly string[] {
  return [...imports].flatMap(([path, made]) => {
    const isWiring = path.split('/').length === 2
    const home = isWiring ? undefined : Object.keys(arrows).findLast((folder) => isIn(path, folder))
    if (!isWiring && home === undefined)
      return [`${path} is in a folder without arrows: add it to test/arrows/arrows.ts`]
    const allowed = home === undefined ? wiring : [home, ...(arrows[home] ?? [])]
    const isAllowed = (to: string) =>
      allowed.some((folder) => isIn(to, folder)) ||
      (isWiring && to.split('/').length === 2 && to !== 'src/index.ts')
    return made
      .filter(({ to }) => !isAllowed(to))
      .map(
        ({ to }) => `${path} must not import ${to}: ${home ?? 'an entry'} may import ${allowed.join(', ')}`,
      )
  })
}

/** The feature that a file is of; undefined for what they share. */
function featureOf(path: string): string | undefined {
  const [, name] = /^src\/features\/([^/]+)\//.exec(path) ?? []
  return name === SHARED_FEATURE ? undefined : name
}

function betweenFeatures(imports: Imports): readonly string[] {
  return [...imports].flatMap(([path, made]) => {
    if (!isIn(path, 'features') || path === 'src/features/standard.ts') return []
    return made
      .filter(({ to }) => featureOf(to) !== undefined && featureOf(to) !== featureOf(path))
      .map(({ to }) => `${path} must not import ${to}: features meet in slots`)
  })
}

/**
 * At each level of the tree: folders that import each other, by however many steps, over files
 * beside them too.
 */
function folderCycles(imports: Imports): readonly string[] {
  const levels = new Set([...imports.keys()].flatMap(foldersAbove))
  return [...levels].flatMap((level) => {
    const childOf = (path: string) =>
      path.startsWith(`${level}/`) ? path.split('/', level.split('/').length + 1).join('/') : undefined
    const graph = new Map<string, Set<string>>()
    for (const [path, made] of imports) {
      const from = childOf(path)
      if (from === undefined || SEAM.includes(path)) continue
      const next = graph.get(from) ?? new Set()
      graph.set(from, next)
      for (const { to } of made) {
        const child = childOf(to)
        if (child !== undefined && child !== from) next.add(child)
      }
    }
    return cyclesOf(graph)
      .filter((cycle) => cycle.some((one) => !one.endsWith('.ts')))
      .map((cycle) => `folders in a cycle: ${cycle.join(' -> ')}`)
  })
}

function foldersAbove(path: string): readonly string[] {
  const parts = path.split('/')
  return parts.slice(1).map((_, index) => parts.slice(0, index + 1).join('/'))
}

/** Modules of the context that import each other, by however many steps, types too. */
function contextCycles(imports: Imports): readonly string[] {
  const isOne = (path: string) => isIn(path, 'kernel/context')
  const graph = new Map(
    [...imports].flatMap(([path, made]) =>
      isOne(path) ? [[path, new Set(made.map(({ to }) => to).filter(isOne))] as const] : [],
    ),
  )
  return cyclesOf(graph).map((cycle) => `modules in a cycle: ${cycle.join(' -> ')}`)
}

function loadedBySeam(imports: Imports): readonly string[] {
  return SEAM.flatMap((seam) =>
    (imports.get(seam) ?? [])
      .filter(({ isType }) => !isType)
      .map(({ to }) => `${seam} must not load ${to}: all of the kernel imports it`),
  )
}

/**
 * One cycle for each node that is in one, unless an earlier cycle holds it: the shortest, closed
 * with its first node.
 */
function cyclesOf(graph: ReadonlyMap<string, ReadonlySet<string>>): readonly (readonly string[])[] {
  const cycles: string[][] = []
  for (const start of graph.keys()) {
    if (cycles.some((cycle) => cycle.includes(start))) continue
    const cameFrom = new Map<string, string>()
    const queue = [start]
    for (const node of queue)
      for (const next of graph.get(node) ?? [])
        if (!cameFrom.has(next)) {
          cameFrom.set(next, node)
          queue.push(next)
        }
    if (!cameFrom.has(start)) continue
    const cycle = [start]
    do cycle.unshift(cameFrom.get(cycle[0] as string) as string)
    while (cycle[0] !== start)
    cycles.push(cycle)
  }
  return cycles
}

/** Identifiers and texts of the kernel that name a feature or an operation. Comments may. */
function namesInKernel(sources: Sources): readonly string[] {
  const features = new Set([...sources.keys()].flatMap((path) => featureOf(path) ?? []))
  const exported = new Set(
    [...features].flatMap((name) => exportsOf(sources, `src/features/${name}/feature.ts`)),
  )
  const isForeign = (name: string): boolean => {
    const words = wordsIn(name)
    const joined = `-${words.join('-')}-`
    return (
      exported.has(name.toLowerCase()) ||
      words.some((word) => foreignWords.includes(word.replace(/s$/, ''))) ||
      [...features].some((feature) => joined.includes(`-${feature}-`))
    )
  }
  return [...sources].flatMap(([path, text]) => {
    if (!isIn(path, 'kernel')) return []
    return withoutComments(text)
      .split('\n')
      .flatMap((line, index) =>
        (line.match(/[\w$]+(?:\.ts)?/g) ?? [])
          .filter((name) => !(name in fieldsOwn) && isForeign(name))
          .map((name) => `${path}:${index + 1} names ${name}: the kernel knows no feature and no operation`),
      )
  })
}

function withoutComments(text: string): string {
  return text
    .replace(/\/\*[\s\S]*?\*\//g, (found) => found.replace(/[^\n]/g, ''))
    .replace(/(^|\s)\/\/.*$/gm, '')
}

/** What a file exports, in lower case. */
function exportsOf(sources: Sources, path: string): readonly string[] {
  const exported = /^export (?:type|interface|const|class|(?:async )?function) (\w+)/gm
  return [...(sources.get(path) ?? '').matchAll(exported)].map(([, name = '']) => name.toLowerCase())
}

/** `FactsShape` as `facts` and `shape`. */
function wordsIn(name: string): readonly string[] {
  const words = name.match(/[A-Z]?[a-z]+|[A-Z]+(?![a-z])/g) ?? []
  return words.map((word) => word.toLowerCase())
}

import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { build, type Metafile, type Plugin } from 'esbuild'

/** What is bundled, as for a browser. */
export interface Program {
  readonly name: string
  readonly code: string
  /** What a page has anyway: only what comes to it is counted. */
  readonly beside?: string
  /** Modules that may stay outside: without this it does not bundle for a browser. */
  readonly external?: readonly string[]
  /** Default: those of browsers. */
  readonly conditions?: readonly string[]
  /**
   * Files of `src/`, by the beginnings of their paths in it, in whose place an empty module stands.
   */
  readonly without?: readonly string[]
  /** Files that stand in the place of what is imported by exactly that name. Default: none. */
  readonly alias?: Readonly<Record<string, string>>
  /** The folder that packages are looked for from. Default: the library's. */
  readonly from?: string
  /**
   * Whether what it imports on demand is parted from it. Default `false`, all in one: esbuild makes
   * that smaller for those who need all of it.
   */
  readonly splits?: boolean
}

export interface Bundle {
  /** What is downloaded at first, WebAssembly included. */
  readonly gzipKiB: number
  readonly minifiedKiB: number
  /** What is imported when it is needed, all of it. */
  readonly onDemandKiB: number
  /** What was left outside of the bundle. */
  readonly external: readonly string[]
  /** Files of which something is in it, from the working directory on. */
  readonly sources: readonly string[]
}

const source = (path: string): string => fileURLToPath(new URL(`../../src/${path}`, import.meta.url))

/** The sources of the library's entries. */
export const ALIAS: Readonly<Record<string, string>> = {
  'plimsoll/o200k': source('counters/o200k.ts'),
  'plimsoll/stemmer': source('stemmer.ts'),
  'plimsoll/dexie': source('stores/dexie.ts'),
  'plimsoll/durable-object': source('durable-object.ts'),
  'plimsoll/hono': source('edge/hono.ts'),
  'plimsoll/cloudflare': source('edge/cloudflare.ts'),
  'plimsoll/client': source('client/index.ts'),
  'plimsoll/sync': source('sync/index.ts'),
  'plimsoll/mcp': source('bridges/mcp/index.ts'),
  'plimsoll/react': source('bridges/react.ts'),
  'plimsoll/vue': source('bridges/vue.ts'),
  'plimsoll/encrypted': source('stores/encrypted/index.ts'),
  plimsoll: source('index.ts'),
}

const bundles = new Map<string, Promise<Bundle>>()

export async function bundle(program: Program): Promise<Bundle> {
  const { beside, ...alone } = program
  if (beside === undefined) return bundledOnce(alone)
  const base = await bundledOnce({ ...alone, code: beside })
  const both = await bundledOnce({ ...alone, code: `${beside}; ${alone.code}` })
  const more = (size: 'gzipKiB' | 'minifiedKiB' | 'onDemandKiB') =>
    Number((both[size] - base[size]).toPrecision(4))
  return {
    ...both,
    gzipKiB: more('gzipKiB'),
    minifiedKiB: more('minifiedKiB'),
    onDemandKiB: more('onDemandKiB'),
  }
}

/** Programs are compared with what they stand beside, and with each other. */
function bundledOnce({ name, ...program }: Omit<Program, 'beside'>): Promise<Bundle> {
  const key = JSON.stringify(program)
  const made = bundles.get(key) ?? bundled({ name, ...program })
  bundles.set(key, made)
  return made
}

async function bundled({
  name,
  code,
  external = [],
  conditions,
  alias = {},
  without = [],
  splits = false,
  from = import.meta.dirname,
}: Omit<Program, 'beside'>): Promise<Bundle> {
  const { outputFiles, metafile } = await build({
    stdin: { contents: code, resolveDir: from },
    alias: ALIAS,
    bundle: true,
    minify: true,
    format: 'esm',
    splitting: splits,
    platform: 'browser',
    loader: { '.wasm': 'file' },
    outdir: 'out',
    external: [...external],
    ...(conditions && { conditions: [...conditions] }),
    plugins: [leavingOut(without), standingIn(alias)],
    metafile: true,
    write: false,
    logLevel: 'error',
  })
  if (outputFiles.length === 0) throw new Error(`esbuild wrote nothing for ${name}`)
  const isFirst = firstOf(metafile)
  const sum = (sizeOf: (contents: Uint8Array) => number, first: boolean) =>
    kibibytes(
      outputFiles.reduce(
        (total, { contents, path }) => total + (isFirst(path) === first ? sizeOf(contents) : 0),
        0,
      ),
    )
  const gzipped = (contents: Uint8Array): number => gzipSync(contents, { level: 9 }).length
  const imports = Object.values(metafile.outputs).flatMap((file) => file.imports)
  const outside = imports.flatMap(({ path, external }) => (external ? path : []))
  return {
    gzipKiB: sum(gzipped, true),
    minifiedKiB: sum((contents) => contents.length, true),
    onDemandKiB: sum(gzipped, false),
    external: [...new Set(outside)].sort(),
    sources: sourcesOf(metafile),
  }
}

/**
 * Tells the files that an entry imports, and what these import, from those that are imported later.
 */
function firstOf({ outputs }: Metafile): (path: string) => boolean {
  const files = Object.entries(outputs)
  const first = new Set(files.flatMap(([path, { entryPoint }]) => (entryPoint === '<stdin>' ? path : [])))
  for (const path of first)
    for (const { kind, path: imported } of outputs[path]?.imports ?? [])
      if (kind !== 'dynamic-import') first.add(imported)
  return (path) => first.has(relative(process.cwd(), path))
}

function sourcesOf({ outputs }: Metafile): readonly string[] {
  const inputs = Object.values(outputs).flatMap((file) => Object.entries(file.inputs))
  return [...new Set(inputs.flatMap(([path, { bytesInOutput }]) => (bytesInOutput > 0 ? path : [])))].sort()
}

/**
 * Any name can be imported from a module of CommonJS, so that code that needs what is left out is
 * bundled as it is.
 */
function leavingOut(paths: readonly string[]): Plugin {
  return {
    name: 'leaving-out',
    setup: ({ onLoad }) =>
      onLoad({ filter: /\.ts$/ }, ({ path }) =>
        paths.some((start) => path.startsWith(source(start)))
          ? { contents: 'module.exports = {}', loader: 'js' }
          : undefined,
      ),
  }
}

function standingIn(files: Readonly<Record<string, string>>): Plugin {
  return {
    name: 'standing-in',
    setup: ({ onResolve }) =>
      onResolve({ filter: /^[^./]/ }, ({ path }) => {
        const file = files[path]
        return file === undefined ? undefined : { path: file }
      }),
  }
}

const kibibytes = (bytes: number): number => Number((bytes / 1024).toPrecision(4))

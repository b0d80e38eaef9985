import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { build, type Plugin } from 'esbuild'
import { round } from './stats.ts'

/** What is bundled, as for a browser. */
export interface Program {
  readonly name: string
  readonly code: string
  /** Modules that may stay outside: without this it does not bundle for a browser. */
  readonly external?: readonly string[]
  /** Default: those of browsers. */
  readonly conditions?: readonly string[]
  /** Files of `src/`, by the beginnings of their paths in it, in whose place an empty module stands. */
  readonly without?: readonly string[]
}

/** All that is downloaded, WebAssembly included. */
export interface Bundle {
  readonly gzipKiB: number
  readonly minifiedKiB: number
  /** What was left outside of the bundle. */
  readonly external: readonly string[]
}

const source = (path: string): string => fileURLToPath(new URL(`../src/${path}`, import.meta.url))

export async function bundle({
  name,
  code,
  external = [],
  conditions,
  without = [],
}: Program): Promise<Bundle> {
  const { outputFiles, metafile } = await build({
    stdin: { contents: code, resolveDir: import.meta.dirname },
    alias: {
      'plimsoll/o200k': source('counters/o200k.ts'),
      'plimsoll/stemmer': source('stemmer.ts'),
      'plimsoll/dexie': source('stores/dexie.ts'),
      'plimsoll/durable-object': source('durable-object.ts'),
      'plimsoll/hono': source('edge/hono.ts'),
      'plimsoll/cloudflare': source('edge/cloudflare.ts'),
      'plimsoll/client': source('client/index.ts'),
      'plimsoll/mcp': source('mcp/index.ts'),
      plimsoll: source('index.ts'),
    },
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'browser',
    loader: { '.wasm': 'file' },
    outdir: 'out',
    external: [...external],
    ...(conditions && { conditions: [...conditions] }),
    plugins: [leavingOut(without)],
    metafile: true,
    write: false,
    logLevel: 'error',
  })
  if (outputFiles.length === 0) throw new Error(`esbuild wrote nothing for ${name}`)
  const sum = (sizeOf: (contents: Uint8Array) => number) =>
    kibibytes(outputFiles.reduce((total, { contents }) => total + sizeOf(contents), 0))
  const imports = Object.values(metafile.outputs).flatMap((file) => file.imports)
  const outside = imports.filter(({ kind }) => kind !== 'file-loader').map(({ path }) => path)
  return {
    gzipKiB: sum((contents) => gzipSync(contents, { level: 9 }).length),
    minifiedKiB: sum((contents) => contents.length),
    external: [...new Set(outside)].sort(),
  }
}

/** Any name can be imported from a module of CommonJS, so that whoever needs what is left out is bundled as it is. */
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

const kibibytes = (bytes: number): number => round(bytes / 1024, 4)

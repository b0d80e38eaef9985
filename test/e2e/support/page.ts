import { build } from 'esbuild'
import { type Served, serve } from '../../unit/support/served.ts'

/** Serves a page that runs this program, as one file, at an origin of its own. */
export async function servePageOf(program: string): Promise<Served> {
  const { outputFiles } = await build({
    entryPoints: [program],
    bundle: true,
    format: 'esm',
    write: false,
    logLevel: 'error',
  })
  const script = outputFiles[0]?.contents
  return serve(({ url }, response) => {
    const isScript = url === '/script.js'
    response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html; charset=utf-8')
    response.end(isScript ? script : '<!doctype html><script type="module" src="/script.js"></script>')
  })
}

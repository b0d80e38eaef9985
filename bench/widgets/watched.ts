import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import type { Page } from 'playwright'
import type { WidgetWatch } from './page/watch.ts'

declare const widgetWatch: WidgetWatch

/** Asks a page that {@link watchScript} was put into. */
export function watched(page: Page) {
  return {
    opened: (newest: number): Promise<number> =>
      page.evaluate((number) => widgetWatch.opened(number), newest),
    settled: (): Promise<number> => page.evaluate(() => widgetWatch.settled()),
    longestTask: (): Promise<number> => page.evaluate(() => widgetWatch.longestTask()),
  }
}

/** Runs in a page before its own scripts. */
export async function watchScript(): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL('page/watch.ts', import.meta.url))],
    bundle: true,
    format: 'iife',
    platform: 'browser',
    minify: true,
    write: false,
    logLevel: 'error',
  })
  return outputFiles[0]?.text ?? ''
}

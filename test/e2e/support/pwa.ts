import { execFile } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import type { Locator, Page } from 'playwright'
import { type PreviewServer, preview } from 'vite'
import { isBuilt } from '../../../worker/local/page.ts'

const root = resolve(import.meta.dirname, '../../..')

/** The page, built. */
export interface BuiltPage {
  readonly folder: string
  remove(): void
}

export async function buildPage(mode: 'production' | 'static'): Promise<BuiltPage> {
  const folder = mkdtempSync(join(tmpdir(), `plimsoll-page-${mode}-`))
  if (mode === 'production' && isBuilt()) {
    // Not where it is: other tests build there.
    cpSync(join(root, 'dist/web'), folder, { recursive: true })
  } else {
    // A process of its own: what is built in one that tests holds what is for developers alone.
    const vite = join(root, 'node_modules/vite/bin/vite.js')
    const options = ['--mode', mode, '--outDir', folder, '--emptyOutDir', '--logLevel', 'error']
    const env = { ...process.env, NODE_ENV: 'production' }
    await promisify(execFile)(process.execPath, [vite, 'build', 'web', ...options], { cwd: root, env })
  }
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) }
}

/** Serves a page as any host of files would, with the headers that it ships. */
export async function servePage({ folder }: BuiltPage): Promise<PreviewServer> {
  const [, first = ''] = readFileSync(join(folder, '_headers'), 'utf8').split(/^\/\*$/m)
  const lines = first.split(/^$/m)[0]?.matchAll(/^ {2}([\w-]+): (.*)$/gm) ?? []
  const headers = Object.fromEntries([...lines].map(([, name = '', value = '']) => [name, value]))
  // This host has no TLS.
  delete headers['Strict-Transport-Security']
  return preview({
    root: join(root, 'web'),
    configFile: false,
    logLevel: 'error',
    build: { outDir: folder },
    preview: { host: '127.0.0.1', port: 0, headers },
  })
}

/** The widget on a page, by what its user sees. */
export class ChatScreen {
  readonly page: Page
  readonly field: Locator
  readonly messages: Locator

  constructor(page: Page) {
    this.page = page
    this.field = page.getByRole('textbox', { name: 'Write a message' })
    this.messages = page.locator('plimsoll-chat [data-message]')
  }

  button(name: string | RegExp): Locator {
    return this.page.getByRole('button', { name, exact: typeof name === 'string' })
  }

  async say(text: string): Promise<void> {
    await this.field.fill(text)
    await this.field.press('Enter')
  }

  /** Texts of the messages, without what stands around them. */
  texts(): Promise<string[]> {
    return this.messages.locator('.bubble, .prose').allInnerTexts()
  }
}

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build } from 'esbuild'
import { type Browser, chromium } from 'playwright'
import { findHeadless, flags } from '../../chromium.ts'
import type { DeviceOrder } from '../pages/device.ts'
import { Device } from './device.ts'
import { EdgeProcess } from './edge-process.ts'
import { type ModelServer, modelServer } from './model-server.ts'

interface LabOptions {
  /** As `modelServer` takes it. */
  readonly reply?: Parameters<typeof modelServer>[0]
  /** Of the edge, beside those of its model. */
  readonly variables?: Readonly<Record<string, string>>
}

/** A real Chromium with devices, and their home in a real `wrangler dev`, which asks a model. */
export class Lab {
  readonly browser: Browser
  readonly model: ModelServer
  readonly edge: EdgeProcess
  readonly #folder: string
  readonly #devices: Device[] = []

  private constructor(browser: Browser, model: ModelServer, edge: EdgeProcess, folder: string) {
    this.browser = browser
    this.model = model
    this.edge = edge
    this.#folder = folder
  }

  static async start({ reply, variables }: LabOptions = {}): Promise<Lab> {
    const folder = mkdtempSync(join(tmpdir(), 'plimsoll-lab-'))
    const executablePath = findHeadless()
    const [browser, model] = await Promise.all([
      chromium.launch({ args: flags, ...(executablePath && { executablePath }) }),
      modelServer(reply),
      build({
        entryPoints: [join(import.meta.dirname, '../pages/device.ts')],
        outfile: join(folder, 'device.js'),
        bundle: true,
        format: 'esm',
        logLevel: 'error',
      }),
    ])
    writeFileSync(
      join(folder, 'index.html'),
      '<!doctype html><script type="module" src="/device.js"></script>',
    )
    const all = { MODEL_BASE_URL: model.url, MODEL_ID: 'tests', RECALL: 'off', ...variables }
    return new Lab(browser, model, await EdgeProcess.start(all, folder), folder)
  }

  /** Another profile of the browser. */
  async open(order: DeviceOrder): Promise<Device> {
    const device = new Device(await this.browser.newContext(), order)
    this.#devices.push(device)
    await device.open()
    return device
  }

  async closeDevices(): Promise<void> {
    await Promise.all(this.#devices.splice(0).map(({ context }) => context.close()))
  }

  async stop(): Promise<void> {
    await this.browser.close()
    await Promise.all([this.edge.stop(), this.model.close()])
    rmSync(this.#folder, { recursive: true, force: true })
  }
}

import type { BrowserContext, Page } from 'playwright'
import type { Device as DeviceFunctions, DeviceOrder } from '../pages/device.ts'

/** A browser profile of its own, with one tab. */
export class Device {
  readonly context: BrowserContext
  readonly #order: DeviceOrder
  page!: Page

  constructor(context: BrowserContext, order: DeviceOrder) {
    this.context = context
    this.#order = order
  }

  /** Opens a tab. */
  async open(): Promise<void> {
    this.page = await this.context.newPage()
    await this.page.goto(this.#order.url)
    await this.page.waitForFunction(() => 'device' in globalThis)
    await this.call('open', this.#order)
  }

  call<Name extends keyof DeviceFunctions>(
    name: Name,
    ...args: Parameters<DeviceFunctions[Name]>
  ): Promise<Awaited<ReturnType<DeviceFunctions[Name]>>> {
    return this.page.evaluate(`device.${name}(...${JSON.stringify(args)})`)
  }

  /** Another tab of the same profile. */
  async another(): Promise<Device> {
    const made = new Device(this.context, this.#order)
    await made.open()
    return made
  }

  /** Says so much, each by itself. */
  async say(...texts: readonly string[]): Promise<void> {
    for (const text of texts) await this.call('say', text.replaceAll(/\W+/g, '-'), text)
  }

  /** Ends the process of the tab. */
  async crash(): Promise<void> {
    const crashed = this.page.waitForEvent('crash')
    // The tab that is to say so is gone.
    this.page.goto('chrome://crash').catch(() => {})
    await crashed
    await this.page.close()
  }
}

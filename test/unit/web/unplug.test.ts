/** A window of Unplug beside another one, over a service in this process. */
import { afterEach, expect, it, vi } from 'vitest'
import { type Model, mapStore } from '../../../src/index.ts'
import { syncServer } from '../../../src/sync/index.ts'
import { Device } from '../../../web/unplug/device.ts'

afterEach(() => vi.unstubAllGlobals())

it.each(['as it comes', 'once it is whole'])(
  'says that the reply of another window stands in place of its own, %s',
  async (when) => {
    const scope = { userId: 'guest', sessionId: 'one' }
    let toks = 0
    const answer = syncServer({
      store: mapStore(),
      newTok: () => `tok${++toks}`,
      authenticate: async () => ({ userId: scope.userId }),
    })
    vi.stubGlobal('fetch', (url: string, init: RequestInit) => answer(new Request(url, init)))
    vi.stubGlobal(
      'WebSocket',
      class extends EventTarget {
        close() {}
      },
    )
    let goOn = (): void => {}
    const held = new Promise<void>((resolve) => (goOn = resolve))
    const open = (name: string, until: Promise<void>): Device => {
      const model: Model = {
        id: name,
        async *complete() {
          const content = `From the ${name}.`
          yield { type: 'text', text: content }
          await until
          yield { type: 'finish', message: { role: 'assistant', content }, reason: 'stop' }
        },
      }
      const onFailure = (error: unknown): void => console.error(error)
      return new Device({
        name,
        url: 'https://edge.test',
        token: 'x',
        scope,
        model,
        onChange() {},
        onFailure,
      })
    }
    const phone = open('phone', held)
    const laptop = open('laptop', Promise.resolve())
    laptop.plug(false)
    await phone.say('Hello.')
    await expect.poll(() => phone.state.coming, { timeout: 10_000 }).toBe('From the phone.')
    phone.plug(false)
    laptop.plug(true)
    const told = ({ state }: Device) => state.messages.map(({ content }) => content)
    await expect.poll(() => told(laptop), { timeout: 15_000 }).toEqual(['Hello.', 'From the laptop.'])
    if (when !== 'as it comes') {
      goOn()
      await expect.poll(() => told(phone)).toEqual(['Hello.', 'From the phone.'])
    }
    expect(phone.state.isReplaced).toBe(false)
    phone.plug(true)
    await expect.poll(() => told(phone), { timeout: 10_000 }).toEqual(told(laptop))
    expect([phone, laptop].map(({ state }) => state.isReplaced)).toEqual([true, false])
    goOn()
    await phone.say('And now?')
    await expect.poll(() => phone.state.messages.length).toBeGreaterThan(2)
    expect(phone.state.isReplaced).toBe(false)
    await Promise.all([phone.close(), laptop.close()])
  },
  60_000,
)

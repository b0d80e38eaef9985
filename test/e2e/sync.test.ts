/** Devices of one user in a real Chromium, and their home in a real `wrangler dev`. */
import type { Route } from 'playwright'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { type Client, createClient, type SessionClient } from '../../src/client/index.ts'
import { isWhole } from '../everywhere/runs.ts'
import type { DeviceOrder } from './pages/device.ts'
import type { Device } from './support/device.ts'
import type { EdgeProcess } from './support/edge-process.ts'
import { Lab } from './support/lab.ts'
import type { ModelServer } from './support/model-server.ts'
import { TENANT, tokenOf } from './support/token.ts'

// An edge that is started again, and browsers, share the machine.
vi.setConfig({ testTimeout: 120_000 })

const SESSION = 'trip'
const PUSH = '**/v1/sync/push'
const CALLS = '**/v1/sync/*'
/** Messages of each of two devices, and kills of a tab. */
const MANY = 500
const KILLS = 20
/** More messages than any of the shorter cases has. */
const SHOWN = 200
/** What many messages may take on a busy machine. */
const SLOW = { timeout: 40_000 }

let lab: Lab
let edge: EdgeProcess
let model: ModelServer

beforeAll(async () => {
  lab = await Lab.start()
  ;({ edge, model } = lab)
}, 120_000)

afterAll(() => lab?.stop())

afterEach(() => lab.closeDevices())

interface Everybody {
  /** Of the same user. */
  readonly devices: readonly [Device, Device]
  readonly client: Client
  readonly home: SessionClient
  readonly order: DeviceOrder
}

let people = 0

/** Two devices of somebody, both with the same session open, and who that is at home. */
async function meet(): Promise<Everybody> {
  const userId = `somebody-${++people}`
  const token = await tokenOf(userId)
  const client = createClient({ baseUrl: edge.url, token })
  await client.sessions.create({ sessionId: SESSION })
  const order = { url: edge.url, token, scope: { tenant: TENANT, userId, sessionId: SESSION } }
  const pair = await Promise.all([lab.open(order), lab.open(order)])
  for (const one of pair) {
    await expect.poll(() => one.call('isTold')).toBe(true)
    await one.call('settled')
  }
  return { devices: pair, client, home: client.session(SESSION), order }
}

const textsAt = async (home: SessionClient): Promise<readonly string[]> =>
  (await home.messages({ messages: SHOWN })).map(({ content }) =>
    typeof content === 'string'
      ? content
      : content.map((part) => (part.type === 'text' ? part.text : '')).join(''),
  )

/** Waits until all devices have sent everything, and show what home has. */
async function expectEqual({ devices, home }: Everybody, count: number): Promise<readonly string[]> {
  await expect.poll(() => textsAt(home)).toHaveLength(count)
  const texts = await textsAt(home)
  for (const device of devices) {
    await expect.poll(() => device.call('texts')).toEqual(texts)
    await expect.poll(() => device.call('waiting')).toBe(0)
    await device.call('settled')
  }
  return texts
}

describe('two browsers and an edge', () => {
  it('show each other what any of them writes, without asking', async () => {
    const all = await meet()
    const [one, other] = all.devices
    await one.say('To Turin.')
    await expect.poll(() => other.call('texts')).toEqual(['To Turin.'])
    await other.say('By train.')
    await expect.poll(() => one.call('texts')).toEqual(['To Turin.', 'By train.'])
    await all.home.append({ role: 'user', content: 'On Monday.' })
    model.queue([{ text: 'It leaves at 9:40.' }])
    await all.home.chat('When?').result()
    const texts = await expectEqual(all, 5)
    expect(texts).toEqual(['To Turin.', 'By train.', 'On Monday.', 'When?', 'It leaves at 9:40.'])
  })

  it('hold the same rows, and give a model the same bytes, after both wrote offline', async () => {
    const all = await meet()
    const [one, other] = all.devices
    await one.say('To Turin.')
    await expect.poll(() => other.call('texts')).toHaveLength(1)
    await expectEqual(all, 1)
    await Promise.all(all.devices.map(({ context }) => context.setOffline(true)))
    await Promise.all([one.say('One A.', 'One B.', 'One C.'), other.say('Other A.', 'Other B.')])
    expect(await Promise.all(all.devices.map((device) => device.call('waiting')))).toEqual([3, 2])
    await all.home.append({ role: 'user', content: 'Meanwhile.' })
    await Promise.all(all.devices.map(({ context }) => context.setOffline(false)))
    const texts = await expectEqual(all, 7)
    const of = (name: string): readonly string[] => texts.filter((text) => text.startsWith(name))
    expect([of('One'), of('Other')]).toEqual([
      ['One A.', 'One B.', 'One C.'],
      ['Other A.', 'Other B.'],
    ])
    const first = await one.call('context')
    await expectEqual(all, 7)
    await expect.poll(() => other.call('rows')).toEqual(await one.call('rows'))
    expect(await other.call('context')).toEqual(first)
    expect((await all.home.context()).hash).toBe(first.hash)
    await expectEqual(all, 7)
    await expect.poll(() => other.call('rows')).toEqual(await one.call('rows'))
  })

  it.runIf(isWhole)('give the same bytes where a new device has the newest part alone', async () => {
    const [messages, keep] = [150, 190_000]
    const all = await meet()
    for (let at = 0; at < messages; at++)
      await all.home.append({ role: 'user', content: `${at} ${'the train to the coast '.repeat(80)}` })
    await expectEqual(all, messages)
    const [one] = all.devices
    const part = await lab.open({ ...all.order, keep })
    await part.call('settled')
    const held = await part.call('held')
    expect(held).toBeGreaterThan(80)
    expect(held).toBeLessThan(110)
    const first = await one.call('context')
    await expectEqual(all, messages)
    await part.call('resume')
    await part.call('settled')
    expect(await part.call('context')).toEqual(first)
    expect(await part.call('held')).toBeLessThan(messages)
    await part.context.setOffline(true)
    expect(await part.call('reads')).toBe('ERR_OFFLINE')
    await part.say('Written offline.')
    await part.context.setOffline(false)
    await expect.poll(() => part.call('reads')).toBe(messages + 1)
    await expectEqual(all, messages + 1)
    await expect.poll(() => part.call('rows')).toEqual(await one.call('rows'))
  })

  it('lose and double nothing when a tab is killed before it could send', async () => {
    const all = await meet()
    const [one, other] = all.devices
    await one.say('To Turin.')
    await expect.poll(() => other.call('texts')).toHaveLength(1)
    await one.context.setOffline(true)
    const more = Array.from({ length: 30 }, (_, index) => `Stop ${index}.`)
    await one.say(...more)
    await one.crash()
    await one.context.setOffline(false)
    await one.open()
    expect(await expectEqual(all, 31)).toEqual(['To Turin.', ...more])
    expect(await other.call('rows')).toEqual(await one.call('rows'))
  })

  it('erase what waits on a device when the session was deleted meanwhile', async () => {
    const all = await meet()
    const [one, other] = all.devices
    await one.say('To Turin.')
    await expect.poll(() => other.call('texts')).toHaveLength(1)
    await other.context.setOffline(true)
    await other.say('A secret.', 'Another secret.')
    await all.client.sessions.delete(SESSION)
    await expect.poll(() => one.call('texts')).toEqual([])
    await other.context.setOffline(false)
    await expect.poll(() => other.call('rows')).toEqual([])
    await other.call('settled')
    expect(await other.call('waiting')).toBe(0)
    await expect(all.client.sessions.get(SESSION)).rejects.toMatchObject({ code: 'ERR_NOT_FOUND' })
    expect(await one.call('texts')).toEqual([])
  })

  it.runIf(isWhole)(
    'lose and double nothing when the edge is killed after it wrote and before it answered',
    async () => {
      const all = await meet()
      const [one, other] = all.devices
      await one.say('To Turin.')
      await expect.poll(() => other.call('texts')).toHaveLength(1)
      await one.call('settled')
      const killed = new Promise<void>((done, failed) => {
        const kill = async (route: Route): Promise<void> => {
          expect((await route.fetch()).ok()).toBe(true)
          await edge.kill()
          await route.abort()
        }
        one.page.route(PUSH, (route) => kill(route).then(done, failed), { times: 1 }).catch(failed)
      })
      await one.say('Two seats.', 'By the window.')
      await killed
      await other.say('With a bicycle.')
      await edge.startAgain()
      const texts = await expectEqual(all, 4)
      expect([...texts].sort()).toEqual(['By the window.', 'To Turin.', 'Two seats.', 'With a bicycle.'])
      expect(await other.call('rows')).toEqual(await one.call('rows'))
    },
  )

  it('of which one speaks another version go on writing, and pass over what they do not know (T16)', async () => {
    const all = await meet()
    const [one, other] = all.devices
    await one.page.route(CALLS, (route) =>
      route.continue({ postData: route.request().postData()?.replace('"proto":1', '"proto":0') ?? '' }),
    )
    await one.say('One.')
    await expect.poll(() => one.call('state')).toBe('upgrade-required')
    await one.say('Two.')
    expect(await one.call('waiting')).toBe(2)
    await one.page.unroute(CALLS)
    // A later home says more than this device knows of.
    await one.page.route(CALLS, async (route) => {
      const response = await route.fetch()
      const { scopes, ...rest } = await response.json()
      const later = scopes.map((scope: object) => ({ ...scope, later: { a: 1 } }))
      await route.fulfill({ response, json: { ...rest, scopes: later, later: true } })
    })
    await one.call('resume')
    expect(await expectEqual(all, 2)).toEqual(['One.', 'Two.'])
    expect(await other.call('rows')).toEqual(await one.call('rows'))
  })

  it.runIf(isWhole)(
    'bring back what they wrote to a home that is set back without a word (T17)',
    async () => {
      const all = await meet()
      const [one, other] = all.devices
      await one.say('Before.')
      await expect.poll(() => other.call('texts')).toHaveLength(1)
      await edge.kill()
      const restore = edge.save()
      await edge.startAgain()
      await one.say('One after.')
      await other.say('Other after.')
      await expectEqual(all, 3)
      await edge.kill()
      restore()
      await edge.startAgain()
      await all.home.append({ role: 'user', content: 'Meanwhile.' })
      await one.say('One at last.')
      const texts = await expectEqual(all, 5)
      expect(texts[0]).toBe('Before.')
      expect([...texts].sort()).toEqual([
        'Before.',
        'Meanwhile.',
        'One after.',
        'One at last.',
        'Other after.',
      ])
      expect(await other.call('rows')).toEqual(await one.call('rows'))
    },
  )

  it.runIf(isWhole)('hold one order of all that both wrote, one of them offline at first (T21)', async () => {
    const all = await meet()
    const [one, other] = all.devices
    await other.context.setOffline(true)
    await Promise.all([one.call('sayMany', 'one', MANY), other.call('sayMany', 'other', MANY)])
    await other.context.setOffline(false)
    await expect.poll(() => one.call('texts'), SLOW).toHaveLength(2 * MANY)
    await other.call('settled')
    const texts = await other.call('texts')
    for (const name of ['one', 'other'])
      expect(texts.filter((text) => text.startsWith(`${name}-`))).toEqual(
        Array.from({ length: MANY }, (_, index) => `${name}-${index}`),
      )
    expect(await other.call('rows')).toEqual(await one.call('rows'))
  })

  it.runIf(isWhole)(
    'lose nothing that was durable in a tab that is killed while it writes and sends (T22)',
    {
      timeout: 300_000,
    },
    async () => {
      const all = await meet()
      const [one, other] = all.devices
      const wrote = new Set<string>()
      await one.context.exposeFunction('wrote', (id: string) => wrote.add(id))
      for (let kill = 0; kill < KILLS; kill++) {
        await one.page.close()
        await one.open()
        one.call('sayMany', `life-${kill}`, 1_000).catch(() => {})
        await new Promise((done) => setTimeout(done, 50 + Math.random() * 400))
        await one.crash()
        await one.open()
      }
      await one.call('settled')
      const texts = await one.call('texts')
      await expect.poll(() => other.call('texts'), SLOW).toEqual(texts)
      expect(wrote.size).toBeGreaterThan(0)
      expect([...wrote].filter((id) => !texts.includes(id))).toEqual([])
      expect(new Set(texts).size).toBe(texts.length)
      for (let kill = 0; kill < KILLS; kill++) {
        const lived = texts.filter((text) => text.startsWith(`life-${kill}-`))
        expect(lived).toEqual(lived.map((_, index) => `life-${kill}-${index}`))
      }
      await other.call('settled')
      expect(await other.call('rows')).toEqual(await one.call('rows'))
    },
  )

  it.each<readonly [how: string, script: string]>([
    ['where the one that sends is closed', ''],
    ...(isWhole ? [['without locks, so that both send', 'delete Navigator.prototype.locks'] as const] : []),
  ])('send what two tabs of a profile wrote once, %s (T27)', async (_, script) => {
    const all = await meet()
    const [one, other] = all.devices
    await one.page.close()
    await one.context.addInitScript(script)
    await one.open()
    const tab = await one.another()
    await Promise.all([one.call('sayMany', 'one', 20), tab.call('sayMany', 'tab', 20)])
    if (script === '') await one.page.close()
    await tab.call('sayMany', 'last', 5)
    await expect.poll(() => other.call('texts'), SLOW).toHaveLength(45)
    const texts = await other.call('texts')
    for (const name of ['one', 'tab', 'last']) {
      const own = texts.filter((text) => text.startsWith(`${name}-`))
      expect(own).toEqual(own.map((_, index) => `${name}-${index}`))
    }
    await expect.poll(() => tab.call('waiting')).toBe(0)
    await tab.call('settled')
    await other.call('settled')
    expect(await other.call('rows')).toEqual(await tab.call('rows'))
  })
})

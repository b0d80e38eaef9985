/**
 * One agent in a real Chromium, one in a real `wrangler dev`, and one message: whichever has the
 * lease is killed in the middle, at a random moment, and the other one goes on. `npm run test:lease
 * -- --real 20` does so twenty times.
 */
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest'
import { createClient, type SessionClient } from '../../src/client/index.ts'
import { LEASE, type LeaseMark } from '../../src/ports/lease.ts'
import type { LogRow } from '../../src/ports/store.ts'
import { isWhole } from '../everywhere/runs.ts'
import type { Device } from './support/device.ts'
import type { EdgeProcess } from './support/edge-process.ts'
import { Lab } from './support/lab.ts'
import { CALLS, REPLY_MS, stepAfter } from './support/steps.ts'
import { TENANT, tokenOf } from './support/token.ts'

const ROUNDS = Number(process.env.UNPLUG ?? 1)
vi.setConfig({ testTimeout: 120_000 + ROUNDS * 30_000 })

/** What an edge that is started again may take. */
const PATIENCE = { timeout: 30_000, interval: 100 }
/** About as long as a whole run takes. */
const RUN_MS = (CALLS + 1) * (REPLY_MS + 250)
/** The message, each step and its result, and the answer. */
const MESSAGES = 2 + CALLS * 2

let lab: Lab
let edge: EdgeProcess

beforeAll(async () => {
  lab = await Lab.start({
    reply: async (request) => {
      await new Promise((resolve) => setTimeout(resolve, REPLY_MS))
      return stepAfter(request)
    },
    variables: { LEASE: 'on' },
  })
  ;({ edge } = lab)
}, 120_000)

afterAll(() => lab?.stop())

afterEach(() => lab.closeDevices())

interface Sides {
  readonly home: SessionClient
  readonly device: Device
  /** Another profile of the same user, which was never there before. */
  another(): Promise<Device>
}

let people = 0

async function meet(): Promise<Sides> {
  const userId = `somebody-${++people}`
  const token = await tokenOf(userId)
  const client = createClient({ baseUrl: edge.url, token })
  await client.sessions.create({ sessionId: 'trip' })
  const order = { url: edge.url, token, scope: { tenant: TENANT, userId, sessionId: 'trip' } }
  const another = (): Promise<Device> => lab.open(order)
  return { home: client.session('trip'), device: await another(), another }
}

const isAnswered = async (home: SessionClient): Promise<boolean> => {
  const newest = (await home.messages()).at(-1)
  return newest?.role === 'assistant' && JSON.stringify(newest.content).includes(`step-${CALLS + 1}`)
}

/** What both sides hold in the end. @returns who had the lease, in order, and the longest gap */
async function expectWhole({ home, device, another }: Sides) {
  await expect.poll(() => isAnswered(home).catch(() => false), PATIENCE).toBe(true)
  const other = await another()
  for (const one of [device, other]) {
    await expect.poll(() => one.call('texts'), PATIENCE).toHaveLength(MESSAGES)
    await one.call('settled')
  }
  const messages = await home.messages()
  expect(messages.map(({ role }) => role)).toEqual([
    'user',
    ...Array.from({ length: CALLS }, () => ['assistant', 'tool']).flat(),
    'assistant',
  ])
  const facts = await home.facts.list()
  expect(facts.map(({ text }) => text).sort()).toEqual(
    Array.from({ length: CALLS }, (_, step) => `Train ${step + 1} leaves at ${step + 1}:40.`),
  )
  const context = await device.call('context')
  await device.call('settled')
  await expect.poll(() => other.call('rows'), PATIENCE).toEqual(await device.call('rows'))
  expect(await other.call('context')).toEqual(context)
  expect((await home.context()).hash).toBe(context.hash)
  const rows = (await device.call('rows')).map((row) => JSON.parse(row) as LogRow)
  const marks = rows.flatMap(({ kind, body }) =>
    kind === LEASE ? (JSON.parse(body ?? '') as LeaseMark) : [],
  )
  let gap = 0
  for (const [index, mark] of marks.entries()) {
    const before = marks[index - 1]
    if (before && before.holder !== mark.holder) gap = Math.max(gap, mark.at - before.until)
  }
  await lab.closeDevices()
  return { holders: [...new Set(marks.map(({ holder }) => holder))], gap }
}

/** Waits for some part of a run. */
const aWhile = (): Promise<void> => new Promise((done) => setTimeout(done, Math.random() * RUN_MS))

it('the edge finishes what a tab began that is killed', async () => {
  let taken = 0
  let longest = 0
  for (let round = 0; round < ROUNDS; round++) {
    const sides = await meet()
    const { device } = sides
    await device.say('When are the trains?')
    await device.call('answer')
    await aWhile()
    await device.crash()
    await device.open()
    const { holders, gap } = await expectWhole(sides)
    if (holders.join() === 'browser,edge') taken++
    longest = Math.max(longest, gap)
  }
  console.log(
    `a tab was killed ${ROUNDS} times; the edge took over ${taken} times, after ${longest} ms at most`,
  )
  // Of machines that do other things too it says nothing.
  if (process.env.UNPLUG !== undefined) expect(longest).toBeLessThanOrEqual(2_000)
})

// An edge that is killed takes a while to start again.
it.runIf(isWhole || process.env.UNPLUG !== undefined)(
  'the browser finishes what the edge began where workerd is killed',
  async () => {
    let taken = 0
    for (let round = 0; round < ROUNDS; round++) {
      const sides = await meet()
      const { device, home } = sides
      const chat = home.chat('When are the trains?')
      // The edge that answers it is gone before its end.
      chat.result().catch(() => {})
      await expect.poll(() => device.call('texts'), PATIENCE).not.toHaveLength(0)
      await device.call('answer')
      await aWhile()
      await edge.kill()
      await edge.startAgain()
      await expect.poll(() => device.call('answers'), PATIENCE).toEqual([`step-${CALLS + 1}`])
      const { holders } = await expectWhole(sides)
      if (holders.join() === 'edge,browser') taken++
    }
    console.log(`workerd was killed ${ROUNDS} times; the browser took over ${taken} times`)
  },
)

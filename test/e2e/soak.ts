/**
 * `npm run test:soak -- [--seconds 60] [--seed N] [--keep BYTES]`: two profiles of a real Chromium
 * and an agent of a real `wrangler dev` write one session, while the network is cut and restored,
 * tabs are killed and workerd is, at random. Then all hold what was said, once, in the same rows,
 * and give a model the same bytes; so does a new device. `--keep`: the second keeps a part.
 */
import { parseArgs } from 'node:util'
import { createClient } from '../../src/client/index.ts'
import { chosen, randomFrom } from '../sync/commands.ts'
import type { Device } from './support/device.ts'
import { Lab } from './support/lab.ts'
import { TENANT, tokenOf } from './support/token.ts'

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '60' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    keep: { type: 'string' },
  },
})
const keep = values.keep === undefined ? {} : { keep: Number(values.keep) }
const random = randomFrom(Number(values.seed))
const below = (count: number): number => Math.floor(random() * count)
const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/** How long all may take to come together. */
const SETTLE_MS = 120_000
const SCOPE = { tenant: TENANT, userId: 'ada', sessionId: 'trip' }

/** What can happen, and how often, of about 100. */
const SHARES = [
  [40, 'say'],
  [12, 'append'],
  [4, 'chat'],
  [14, 'plug'],
  [4, 'kill a tab'],
  [1, 'kill the edge'],
  [25, 'wait'],
] as const
type What = (typeof SHARES)[number][1]

const lab = await Lab.start({ reply: () => ({ text: 'It leaves at 9:40.' }) })
try {
  await run()
} finally {
  await lab.stop()
}

async function run(): Promise<void> {
  const { edge } = lab
  const token = await tokenOf(SCOPE.userId)
  const client = createClient({ baseUrl: edge.url, token })
  await client.sessions.create({ sessionId: SCOPE.sessionId })
  const home = client.session(SCOPE.sessionId)
  const order = { url: edge.url, token, scope: SCOPE }
  const devices = [await lab.open(order), await lab.open({ ...order, ...keep })]
  const isCut = devices.map(() => false)
  const said: string[] = []
  const counts = new Map<What, number>()

  const textOf = (by: string): string =>
    `${by} ${said.length}: ${'the train to the coast '.repeat(below(40))}`
  const plug = async (at: number, isOff: boolean): Promise<void> => {
    await devices[at]?.context.setOffline(isOff)
    isCut[at] = isOff
  }
  const happen: Record<What, (device: Device, at: number) => Promise<unknown>> = {
    say: async (device, at) => {
      const text = textOf(`device ${at}`)
      await device.call('say', `said-${said.length}`, text)
      said.push(text)
    },
    append: async () => {
      const text = textOf('agent')
      await home.append({ role: 'user', content: text })
      said.push(text)
    },
    chat: async () => {
      const text = textOf('chat')
      await home.chat(text).result()
      said.push(text)
    },
    plug: (_, at) => plug(at, !isCut[at]),
    'kill a tab': async (device, at) => {
      await device.crash()
      // Its page comes from the edge.
      await plug(at, false)
      await device.open()
    },
    'kill the edge': async () => {
      await edge.kill()
      await edge.startAgain()
    },
    wait: () => wait(below(1_000)),
  }

  for (const end = Date.now() + 1_000 * Number(values.seconds); Date.now() < end; ) {
    const what = chosen(random(), SHARES)
    const at = below(devices.length)
    await happen[what](devices[at] as Device, at)
    counts.set(what, (counts.get(what) ?? 0) + 1)
  }

  for (const at of devices.keys()) await plug(at, false)
  const started = Date.now()
  await until(async () =>
    (await Promise.all(devices.map((one) => one.call('waiting')))).every((left) => left === 0),
  )
  const all = [...devices, await lab.open(order)]
  // What one writes that builds a context, the others are told.
  await until(async () => {
    for (const one of all) await one.call('settled')
    const shown = await Promise.all(all.map(async (one) => JSON.stringify(await one.call('texts'))))
    return shown.every((one) => one === shown[0])
  })
  const tookMs = Date.now() - started
  const [first] = all as [Device]
  const texts = await first.call('texts')
  const wrong = said.filter((text) => texts.filter((one) => one === text).length !== 1)
  const { hash, request } = await first.call('context')
  await first.call('settled')
  const shown = async (one: Device) => {
    await until(async () => (await one.call('context')).hash === hash)
    return (await one.call('context')).request === request
  }
  const isSameContext = (await Promise.all(all.map(shown))).every(Boolean)
  for (const one of all) await one.call('settled')
  await until(async () => {
    const rows = await Promise.all(all.map(async (one) => JSON.stringify(await one.call('rows'))))
    return rows.every((one) => one === rows[0])
  })
  const isHome = (await home.context()).hash === hash
  const told = [...counts].map(([what, count]) => `${what} ${count}`).join(', ')
  console.log(`--seed ${values.seed} --seconds ${values.seconds}: ${told}`)
  console.log(
    `${texts.length} messages, ${said.length} said; together in ${tookMs} ms; ${wrong.length} lost or doubled`,
  )
  console.log(`same rows: yes; same request: ${isSameContext}; same hash at home: ${isHome}`)
  if (wrong.length > 0 || !isSameContext || !isHome) process.exitCode = 1
}

async function until(isTrue: () => Promise<boolean>): Promise<void> {
  for (const end = Date.now() + SETTLE_MS; !(await isTrue()); await wait(100))
    if (Date.now() > end) throw new Error(`--seed ${values.seed}: they do not come together`)
}

/**
 * `npm run test:lighthouse [-- --url URL] [--messages N] [--seconds N]`: the page as the edge
 * serves it, with its inspector open and with a conversation, and the page with one script tag, in
 * light and in dark. Lighthouse's accessibility and best practices must be 100, and the browser
 * must find nothing that keeps the page from being installed. How fast it paints without a network,
 * and the longest task while a long conversation is scrolled, is reported.
 */
import { existsSync, rmSync } from 'node:fs'
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { type BrowserContext, chromium } from 'playwright'
import { findChromium, flags } from '../../test/chromium.ts'
import { freePort, type Started, start } from '../../test/started.ts'
import { temporaryFolder } from '../stores/temporary.ts'
import { MESSAGES } from '../widgets/plan.ts'
import { answerLong } from './answer.ts'
import { audit } from './audit.ts'
import { serveFolders } from './folders.ts'
import { installErrors } from './install.ts'
import { paintOffline } from './offline.ts'
import { scrollLong } from './scroll.ts'
import { auditShown, states } from './shown.ts'

const { values } = parseArgs({
  options: {
    // A page that is served already; else `npm start` serves one.
    url: { type: 'string' },
    // In the conversation that is scrolled; 0: none is.
    messages: { type: 'string', default: '100000' },
    // So long it is scrolled, and one of 10 000 messages is used while a reply streams.
    seconds: { type: 'string', default: '20' },
  },
})

const executablePath = findChromium()
if (!executablePath) throw new Error('no Chromium: run `node test/chromium.ts`')

/** To the next paint, in milliseconds: what people take for at once. */
const MOST_MS = 100
const root = resolve(import.meta.dirname, '../..')
const tag = resolve(root, 'dist/tag')
if (!existsSync(tag)) throw new Error('the tag is not built: npm run build:tag')

let failures = 0
const say = (line: string): void => console.log(line)
const check = (what: string, problems: readonly string[]): void => {
  say(`${problems.length === 0 ? 'ok     ' : 'FAILED '} ${what}`)
  for (const problem of problems) say(`          ${problem}`)
  failures += problems.length
}

const edge = values.url === undefined ? await startEdge() : undefined
const url = values.url ?? edge?.found ?? ''
const examples = await serveFolders([tag, resolve(root, 'examples/pages')])
const tagged = `${examples.url}/plain/index.html`
const port = await freePort()
const profile = temporaryFolder()
// Not in incognito mode, where nothing can be installed.
const context = await chromium.launchPersistentContext(profile, {
  executablePath,
  args: [...flags, `--remote-debugging-port=${port}`],
})
try {
  for (const page of [url, tagged])
    for (const { title, score, problems } of await audit(page, port))
      check(
        `${page === url ? 'the page of the edge' : 'the one-tag page'}: ${title} ${score} of 100`,
        problems,
      )
  for (const state of states(url, tagged))
    for (const scheme of ['light', 'dark'] as const)
      for (const { title, score, problems } of await auditShown(state, port, scheme))
        check(`${state.name}, ${scheme}: ${title} ${score} of 100`, problems)
  check('can be installed', await installErrors(context, url))
  await reportOffline(context)
  const messages = Number(values.messages)
  if (messages > 0) {
    const seconds = Number(values.seconds)
    const { passed, tasks } = await scrollLong(context, messages, seconds)
    say(`        scrolled past ${passed} of ${messages} messages in ${seconds} s, with ${tasks.length} tasks`)
    say(`          by the clock: ${longest(tasks.map(({ ms }) => ms))}`)
    say(`          of the processor: ${longest(tasks.map(({ cpuMs }) => cpuMs))}`)
  }
  if (Number(values.seconds) > 0) await checkResponse(context, Number(values.seconds))
} finally {
  await context.close()
  examples.close()
  await edge?.stop()
  rmSync(profile, { recursive: true, force: true })
}
process.exitCode = failures === 0 ? 0 : 1

async function startEdge(): Promise<Started> {
  const port = await freePort()
  const args = ['start', '--', '--port', `${port}`, '--data', temporaryFolder()]
  return start('npm', args, /Plimsoll is at (\S+)/)
}

/** With the edge gone as well, where it is ours. */
async function reportOffline(context: BrowserContext): Promise<void> {
  const painted = await paintOffline(context, url, async () => edge?.stop())
  say(
    typeof painted === 'string'
      ? `        without a network: ${painted}`
      : `        first paint without a network: ${painted.map((ms) => `${ms.toFixed(0)} ms`).join(', ')}`,
  )
}

/** How soon somebody is answered who uses a long conversation while a reply grows in it. */
async function checkResponse(context: BrowserContext, seconds: number): Promise<void> {
  const times = await answerLong(context, MESSAGES, seconds)
  const at = (share: number): number => times[Math.ceil(share * times.length) - 1] ?? Number.NaN
  check(
    `an interaction while a reply streams after ${MESSAGES} messages, to the next paint: at most ${MOST_MS} ms in 95 of 100`,
    at(0.95) <= MOST_MS ? [] : [`${at(0.95)} ms`],
  )
  say(
    `          of ${times.length}: median ${at(0.5)} ms, 95th percentile ${at(0.95)} ms, the longest ${at(1)} ms`,
  )
}

function longest(times: readonly number[]): string {
  const long = times.filter((ms) => ms > 50).length
  return `the longest took ${Math.max(0, ...times).toFixed(0)} ms, ${long} more than 50`
}

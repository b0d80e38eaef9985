// A window that never overflows, and beside it facts that outlive the session. A script stands in
// for the model.
import {
  addExchange,
  createMemory,
  facts,
  memoryTools,
  runAgent,
  type Store,
  scriptedModel,
  sessionStartGuide,
  start,
} from 'plimsoll'

const system = `You are a travel agent.\n\n${sessionStartGuide}`
const input = 'Which train to Turin has a restaurant car? I think it is the 9:40.'
const noting = { name: 'memory_finding', input: { text: 'The 9:40 to Turin has a restaurant car.' } }

export interface Settings {
  readonly store: Store
  readonly clock?: () => number
  readonly newId?: () => string
}

export async function twoTier(settings: Settings, print: (line: string) => void): Promise<void> {
  /** What a process has when it starts: the store, and nothing else. */
  const open = (sessionId: string) =>
    createMemory({ ...settings, system, budget: 2_000, use: [facts()] }).session({ userId: 'ada', sessionId })

  const monday = open('monday')
  // Ada's own word, for instance from a form of the app: it holds in all her sessions.
  await monday.facts.remember({ kind: 'constraint', text: 'Never book a flight.' })
  const model = scriptedModel([{ calls: [noting] }, { error: new Error('the power went out') }])
  const tools = memoryTools(monday, ['finding'])
  await runAgent({ input, model, session: monday, tools }).then(undefined, (error: Error) =>
    print(`Monday, the run ends early: ${error.message}.`),
  )

  const later = open('monday')
  const rest = { model: scriptedModel(['Yes, it has one.']), tools: memoryTools(later) }
  const { answer } = await runAgent({ ...rest, session: later, resume: true })
  print(`Another process goes on with it: ${answer}`)
  for (const { kind, trust, text } of await later.facts.list())
    print(`  remembered: ${kind} [${trust}] ${text}`)

  for (let stop = 1; stop <= 60; stop++)
    await addExchange(later, `How long do we stop at station ${stop}?`, 'Ten minutes, and the view is fine.')
  const { receipt } = await later.context()
  const left = receipt.omitted.reduce((sum, { count }) => sum + count, 0)
  print(
    `60 rounds on: ${receipt.used} of ${receipt.cap} tokens; ${left} messages left the window, none the log.`,
  )

  const tuesday = open('tuesday')
  const { memory_count, pinned } = await start(tuesday)
  print(
    `Tuesday, a new session: ${memory_count} facts, pinned: ${pinned.map(({ content }) => content).join(' ')}`,
  )
  await tuesday.append({ role: 'user', content: 'Take me to Rome.' })
  const { blocks } = await tuesday.context()
  const told = JSON.stringify(blocks)
  print(`Its instructions hold what Ada said: ${told.includes('Never book a flight.')}`)
  print(`What the model noted stays on Monday: ${!told.includes('restaurant car')}`)
}

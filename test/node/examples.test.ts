import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'

/**
 * What an example prints; of rendered calls' ids, which derive from random ones, no more than that
 * they are there.
 */
async function printed(run: () => Promise<unknown>): Promise<string> {
  const log = vi.spyOn(console, 'log').mockImplementation(() => {})
  try {
    await run()
    return log.mock.calls
      .map((line) => line.join(' '))
      .join('\n')
      .replaceAll(/call_[0-9a-f]{14}_\d/g, 'call_…')
  } finally {
    log.mockRestore()
  }
}

test('the quickstart prints what is sent for each question', async () => {
  const text = await printed(() => import('../../examples/quickstart.ts'))
  expect(text).toMatchInlineSnapshot(`
    "The replies are scripted: no model is called.

    user: Book the 9:40 to Turin for Ilse and me.
      sent: 2 messages, 30 of 100 tokens
    assistant: Two seats on the 9:40, coach 5. Shall I pay with the card on file?
    user: Looks good
      sent: 4 messages, 63 of 100 tokens
    assistant: Paid, your booking is SLR-9D8W5T. Anything else?
    user: Is there a restaurant car?
      sent: 2 messages, 23 of 100 tokens
    assistant: Yes, between coaches 7 and 8, open until Milan.
    user: And where do we change?
      sent: 4 messages, 53 of 100 tokens
    assistant: In Milan: platform 14, twenty minutes later."
  `)
})

test('the calculator run prints its figures before and after, what a naive cut gives, and why', async () => {
  const text = await printed(() => import('../../examples/calculator.ts'))
  expect(text).toMatchInlineSnapshot(`
    "The model is scripted, as agent and as summariser: no model is called.

    Without a line: 11 messages, 126 tokens, 0 summaries.

    With the line at 100 tokens, and 48 for the tool's schema beside it:
      call 1: 48 tokens, 2 messages
      call 2: 63 tokens, 4 messages
      call 3: 78 tokens, 6 messages
      call 4: 93 tokens, 8 messages
      before call 5: 108 tokens, above the line
      call 5: 91 tokens, 6 messages

    A naive cut to the last 3 messages behind the summary: 82 tokens, but providers refuse it:
      openai: pairing, no call before this result has the id "call_…"
      anthropic: pairing, no call before this result has the id "call_…"

    Plimsoll's: 91 tokens, of 100 with the fence around the summary:
      [summary #1 of 5 earlier messages]
      User asked for four running sums via the \`add\` tool. Results so far: 1+2=3, 10+20=30, 100+200=300. Next: 1000+2000.
    Why: the newest 3 messages begin with a result, so its call stays too: the window is cut between steps. The goal has no
    room beside that: it is folded into the summary with the first two steps.

    Problems found in the 6 requests: 0
    Answer: Running total so far: 3, 30, 300, 3000. Final sum = 3333.
    After it: 109 tokens, 5 steps, 1 summary."
  `)
})

test('the resumed run prints what it settled', async () => {
  const text = await printed(() => import('../../examples/resume.ts'))
  expect(text).toMatchInlineSnapshot(`
    "The replies are scripted: no model is called.

    The first run ends: aborted in step 1.
    The second run finds without a result: pay, mail.
      settled: pay, given: Paid, reference SLR-9D8W5T.
      settled: mail, given: It did not run.
    It ends: answer. Two seats on the 9:40, coach 5, are paid: SLR-9D8W5T. No mail was sent.
    Payments made: 1"
  `)
})

test('the two tiers are told by lines that are the same everywhere', async () => {
  const text = await printed(() => import('../../examples/two-tier.ts'))
  expect(text).toMatch(/^The replies are scripted: no model is called\.\n\nMonday, the run ends early: /)
  expect(text.split('\n')).toHaveLength(10)
})

test('the sliding window shows 40 messages from the 20th exchange on', async () => {
  const text = await printed(() => import('../../examples/from/sliding-window.ts'))
  expect(text.split('\n')).toEqual(
    Array.from({ length: 22 }, (_, n) => `${n + 1} ${Math.min(2 * n + 2, 40)}`),
  )
})

test('the budget is summarised once, and keeps the last results', async () => {
  const text = await printed(() => import('../../examples/from/budget.ts'))
  expect(text.replaceAll(/ctx-[0-9a-f]{8}/g, 'ctx-…')).toMatchInlineSnapshot(`
    "63 tokens, of which are sent: 63
    78 tokens, of which are sent: 78
    93 tokens, of which are sent: 93
    108 tokens, of which are sent: 100
    {"type":"text","text":"You are a careful calculator. Use the \`add\` tool for every step."}
    {"type":"text","text":"<ctx-… data>\\n[summary #1 of 5 earlier messages]\\nUser asked for four running sums via the \`add\` tool. Results so far: 1+2=3, 10+20=30, 100+200=300. Next: 1000+2000.\\n</ctx-…>"}
    {"type":"tool-call","id":"call_…","name":"add","input":{"a":100,"b":200}}
    {"type":"tool-result","callId":"call_…","output":"300"}
    {"type":"tool-call","id":"call_…","name":"add","input":{"a":1000,"b":2000}}
    {"type":"tool-result","callId":"call_…","output":"3000"}"
  `)
})

test('the log, checkpoint and window go on with each run over one file', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'plimsoll-from-'))
  const { argv } = process
  onTestFinished(() => {
    process.argv = argv
    rmSync(folder, { recursive: true, force: true })
  })
  process.argv = [...argv.slice(0, 2), join(folder, 'memory.db')]
  const runs: string[] = []
  for (let run = 0; run < 14; run++) {
    vi.resetModules()
    runs.push(await printed(() => import('../../examples/from/log-checkpoint.ts')))
  }
  expect(runs.slice(0, 3)).toEqual([
    'mail 0: 1 messages sent, 2 kept',
    'mail 1: 3 messages sent, 4 kept',
    'mail 2: 5 messages sent, 6 kept',
  ])
  expect(runs.slice(-3)).toEqual([
    'mail 11: 23 messages sent, 24 kept',
    'mail 12: 23 messages sent, 26 kept',
    'mail 13: 23 messages sent, 28 kept',
  ])
})

test('the coding agent remembers what blocks it, and says so when that is over', async () => {
  const text = await printed(() => import('../../examples/from/two-tier.ts'))
  expect(text).toMatchInlineSnapshot(`
    "  model: ok
      tool: ok
      model: ok
      tool: ok
      model: ok
    I need a new key. 1 blocker, 3 steps
      model: ok
      tool: ok
      model: ok
    The test passes. 0 blockers, 2 steps"
  `)
})

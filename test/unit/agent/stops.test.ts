import { describe, expect, it } from 'vitest'
import {
  type AgentEvent,
  type Middleware,
  type RunAgentOptions,
  runAgent,
  scriptedModel,
} from '../../../src/index.ts'
import { addExchange } from '../../../src/operations/exchange.ts'
import { call, eventsOf, open, tool } from './support.ts'

const go = (options: Partial<RunAgentOptions>) =>
  runAgent({
    input: 'Go',
    model: scriptedModel([{ text: 'I act.', calls: [call('act')] }, 'Done.']),
    tools: [tool('act', () => 1)],
    session: open(),
    ...options,
  })

/** Aborts at the n-th event of a type; the types that come after. */
async function abortedAt(
  type: AgentEvent['type'],
  at = 1,
  options: Partial<RunAgentOptions> = {},
): Promise<{ answer: string; reason: string; after: readonly string[] }> {
  const controller = new AbortController()
  let seen = 0
  let index = -1
  let count = 0
  const run = go({
    ...options,
    signal: controller.signal,
    onEvent: (event) => {
      if (event.type === type && ++seen === at) {
        controller.abort()
        index = count
      }
      count++
    },
  })
  const { answer, reason } = await run
  return { answer, reason, after: (await eventsOf(run)).slice(index + 1).map((event) => event.type) }
}

describe('a run that is aborted', () => {
  it('begins nothing more: no step, no model call, no tool', async () => {
    expect(await abortedAt('tool-result')).toMatchObject({ reason: 'aborted', after: ['finish'] })
    expect(await abortedAt('tool-call')).toMatchObject({ reason: 'aborted', after: ['finish'] })
    expect(await abortedAt('run-start')).toMatchObject({ reason: 'aborted', after: ['finish'] })
  })

  it('has the text of its last reply for an answer, until another one comes', async () => {
    expect(await abortedAt('context', 2)).toMatchObject({ reason: 'aborted', answer: 'I act.' })
  })

  it('has answered where its last reply was recorded by then', async () => {
    const watcher: Middleware = {
      name: 'watcher',
      order: 1,
      kind: 'enricher',
      start: () => ({ afterModelCall: () => {} }),
    }
    for (const type of ['message', 'usage'] as const)
      expect(
        await abortedAt(type, type === 'message' ? 2 : 1, {
          model: scriptedModel(['Done.']),
          middleware: [watcher],
        }),
      ).toMatchObject({ reason: 'answer', answer: 'Done.' })
  })

  it('neither looks nor writes further while it is opened', async () => {
    for (const during of ['history', 'append'] as const) {
      const controller = new AbortController()
      const session = open()
      const done: string[] = []
      for (const name of ['history', 'context', 'append'] as const) {
        const own = session[name].bind(session) as (...given: unknown[]) => Promise<never>
        session[name] = (async (...given: unknown[]) => {
          done.push(name)
          if (name === during) controller.abort()
          return own(...given)
        }) as never
      }
      expect(await go({ session, system: 'Be kind.', signal: controller.signal })).toMatchObject({
        reason: 'aborted',
      })
      expect(done.at(-1)).toBe(during)
    }
  })

  it('does not look at all where it was aborted before', async () => {
    const session = open()
    await session.append([
      { role: 'user', content: 'Go' },
      { role: 'assistant', content: [{ type: 'tool-call', id: 'a', name: 'act', input: {} }] },
    ])
    const run = go({ session, signal: AbortSignal.abort() })
    await run
    expect((await eventsOf(run)).map(({ type }) => type)).toEqual(['run-start', 'finish'])
  })
})

describe('a run that is out of time', () => {
  it('rejects with what the store said, if that is what ended it', async () => {
    const session = open()
    const append = session.append.bind(session)
    session.append = async (input, options) => {
      const [first] = [input].flat() as readonly { role: string }[]
      if (first?.role !== 'assistant') return append(input, options)
      await new Promise((resolve) => setTimeout(resolve, 20))
      throw new Error('disk')
    }
    await expect(go({ session, timeouts: { run: 5 } })).rejects.toThrow('disk')
  })
})

describe('a guard that failed after a tool', () => {
  it('ends the run before anything is asked again', async () => {
    let asked = 0
    const guard: Middleware = {
      name: 'guard',
      order: 1,
      kind: 'guard',
      start: () => ({
        beforeModelCall: () => void asked++ as undefined,
        afterTool: () => Promise.reject(new Error('broken')),
      }),
    }
    const run = go({ middleware: [guard] })
    expect(await run).toMatchObject({ reason: 'stopped', stoppedBy: 'guard', steps: 1 })
    expect(asked).toBe(1)
    expect((await eventsOf(run)).filter(({ type }) => type === 'step-start')).toHaveLength(1)
  })
})

describe('a conversation without a question', () => {
  it('is gone on with all the same', async () => {
    for (const pending of [true, false]) {
      const session = open()
      await session.append(
        pending
          ? { role: 'assistant', content: [{ type: 'tool-call', id: 'a', name: 'act', input: {} }] }
          : { role: 'system', content: 'Greet all who come.' },
      )
      const run = runAgent({ session, model: scriptedModel(['Hello.']) })
      expect(await run).toMatchObject({ reason: 'answer', answer: 'Hello.' })
    }
  })
})

describe('what a run ends with, and when', () => {
  it('reaches no listener before the run itself is there', async () => {
    let returned = false
    const early: boolean[] = []
    const run = go({ onEvent: () => void early.push(!returned) })
    returned = true
    await run
    expect(early).not.toContain(true)
  })

  it('is said of a reply that a filter cut', async () => {
    const model = scriptedModel([{ text: 'Half', reason: 'content-filter' }])
    expect(await go({ model })).toMatchObject({ reason: 'content-filter', answer: 'Half' })
  })

  it('is its twentieth step, where nobody said otherwise', async () => {
    const model = scriptedModel(() => ({ calls: [call('act')] }))
    expect(await go({ model })).toMatchObject({ reason: 'max-steps', steps: 20 })
  })

  it('needs a session to resume, whatever is to be resumed', async () => {
    for (const resume of [true, {}] as const)
      await expect(runAgent({ input: 'Go', model: scriptedModel(['x']), resume })).rejects.toMatchObject({
        argument: 'resume',
      })
  })

  it('tells of a step before what fails in it', async () => {
    const fail = (): never => {
      throw new Error('broken')
    }
    const enricher: Middleware = {
      name: 'enricher',
      order: 1,
      kind: 'enricher',
      start: () => ({ beforeModelCall: fail }),
    }
    const run = go({ middleware: [enricher], model: scriptedModel(['Done.']) })
    await run
    expect((await eventsOf(run)).map(({ type }) => type).slice(2, 5)).toEqual([
      'step-start',
      'middleware-failure',
      'context',
    ])
  })
})

describe('the round of a run', () => {
  /** How the conversation shows where somebody says something before the reply. */
  const shown = async (input: NonNullable<RunAgentOptions['input']>): Promise<readonly unknown[]> => {
    const session = open()
    await addExchange(session, 'Hello', 'Hi.')
    const model = scriptedModel(async () => {
      await session.append({ role: 'user', content: 'And me?' })
      return 'Done.'
    })
    await runAgent({ input, model, session })
    return (await session.history()).slice(2).map(({ content }) => content)
  }

  it('is that of the last question in its input, or else of the last one before', async () => {
    expect(
      await shown([
        { role: 'user', content: 'One?' },
        { role: 'user', content: 'Two?' },
      ]),
    ).toEqual(['One?', 'Two?', 'Done.', 'And me?'])
    expect(await shown({ role: 'system', content: 'Go on.' })).toEqual(['Go on.', 'Done.', 'And me?'])
  })

  it('loses nothing where only some of its messages have ids: giving those again is refused', async () => {
    const session = open()
    const ask = (content: string) =>
      runAgent({
        input: [
          { id: 'head', role: 'user', content: 'About trains:' },
          { role: 'user', content },
        ],
        model: scriptedModel(['Done.']),
        session,
      })
    await ask('Which one?')
    const again = await ask('When?').then(
      ({ steps }) => steps,
      (error: { code?: string }) => error.code,
    )
    expect(again).toBe('ERR_DUPLICATE_ID')
  })
})

import fc from 'fast-check'
import { expect, it } from 'vitest'
import {
  mapStore,
  type ResumeOptions,
  runAgent,
  type ScriptedReply,
  scriptedModel,
} from '../../../src/index.ts'
import { runs } from '../support/runs.ts'
import { expectLints, open, tool } from './support.ts'

/** What a tool does, and after how many turns of the event loop. */
const behaviour = fc.record({
  does: fc.constantFrom('answer', 'throw', 'cycle', 'nothing', 'invalid', 'unknown'),
  turns: fc.nat(4),
})
const call = fc.record({ id: fc.constantFrom(undefined, 'a', 'b', ''), behaviour })
const step = fc.array(call, { minLength: 1, maxLength: 4 })
const scripts = fc.record({
  steps: fc.array(step, { maxLength: 5 }),
  parallel: fc.constantFrom(true, false, 2),
  /** After how many events to abort. */
  abortAt: fc.oneof(fc.constant(undefined), fc.nat(60)),
  pending: fc.constantFrom<NonNullable<ResumeOptions['pending']>>('fail', 'run', () => 'given'),
})

const act = tool(
  'act',
  async (input) => {
    const { does, turns } = input as { does: string; turns: number }
    for (let turn = 0; turn < turns; turn++) await undefined
    if (does === 'throw') throw new Error('thrown')
    const output: unknown[] = []
    if (does === 'cycle') output.push(output)
    return does === 'nothing' ? undefined : output
  },
  {
    inputSchema: { type: 'object', properties: { does: { enum: ['answer', 'throw', 'cycle', 'nothing'] } } },
  },
)

it('leaves a valid conversation in which every call is answered exactly once, whatever tools do and wherever it ends', async () => {
  await fc.assert(
    fc.asyncProperty(scripts, async ({ steps, parallel, abortAt, pending }) => {
      const store = mapStore()
      const replies: ScriptedReply[] = steps.map((calls) => ({
        calls: calls.map(({ id, behaviour: { does, turns } }) => ({
          name: does === 'unknown' ? 'unknown' : 'act',
          input: { does, turns },
          ...(id !== undefined && { id }),
        })),
      }))
      const controller = new AbortController()
      let events = 0
      const options = { tools: [act], parallel, maxSteps: 10 }
      const first = await runAgent({
        ...options,
        input: { id: 'input', role: 'user', content: 'Go' },
        model: scriptedModel([...replies, 'Done.']),
        session: open(store),
        signal: controller.signal,
        onEvent: () => {
          if (events++ === abortAt) controller.abort()
        },
      })
      if (first.reason === 'aborted') {
        expectLints(await open(store).context({ onPending: 'abandon', tail: 'x' }))
        const again = await runAgent({
          ...options,
          input: { id: 'input', role: 'user', content: 'Go' },
          model: scriptedModel(() => 'Done.'),
          session: open(store),
          resume: { pending },
        })
        expect(again).toMatchObject({ reason: 'answer', answer: 'Done.' })
      }
      const session = open(store)
      expectLints(await session.context({ tail: 'x' }))
      let waiting: string[] = []
      for (const { role, content } of await session.history({ messages: 1_000 })) {
        if (role !== 'tool') expect(waiting).toEqual([])
        for (const part of typeof content === 'string' ? [] : content) {
          if (part.type === 'tool-call') waiting.push(part.id)
          if (part.type !== 'tool-result') continue
          expect(waiting).toContain(part.callId)
          waiting = waiting.toSpliced(waiting.indexOf(part.callId), 1)
        }
      }
      expect(waiting).toEqual([])
    }),
    runs(60),
  )
})

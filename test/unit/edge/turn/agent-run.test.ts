import { expect, it } from 'vitest'
import type { EdgeSession } from '../../../../src/edge/features.ts'
import { agentRun } from '../../../../src/edge/turn/agent-run.ts'
import { attach, type Context, createMemory, mapStore } from '../../../../src/index.ts'
import { webHost } from '../../../../src/platform/web.ts'
import type { Model } from '../../../../src/ports/model.ts'
import { pictureOf } from '../../../everywhere/pictures.ts'

/** A session, and what a model that answers in it is shown of its media. */
function looking() {
  const memory = createMemory({ store: mapStore(), budget: 64_000 })
  const session = memory.session({ userId: 'ada', sessionId: 'trip' })
  let seen: Context | undefined
  const model: Model = {
    id: 'test',
    async *complete({ context }) {
      seen = context
      yield { type: 'finish', reason: 'stop', message: { role: 'assistant', content: 'A dot.' } }
    },
  }
  const run = () =>
    agentRun({})(
      {
        session: session as unknown as EdgeSession,
        model: () => model,
        tools: [],
        options: {},
        host: webHost,
        signal: new AbortController().signal,
        begin: () => {},
      },
      () => {},
    )
  const media = () => seen?.blocks.flatMap(({ parts }) => parts.filter((part) => part.type === 'media'))
  return { session, run, media }
}

it('shows the model the pictures of a session, and no other files', async () => {
  const { session, run, media } = looking()
  const bytes = pictureOf('image/png')
  const picture = await attach(session, { mediaType: 'image/png', bytes })
  const ticket = await attach(session, { mediaType: 'application/pdf', bytes })
  await session.append({ role: 'user', content: [{ type: 'text', text: 'Look.' }, picture, ticket] })
  expect(await run()).toEqual({ status: 'done', steps: 1 })
  expect(media()).toEqual([
    { ...picture, url: `data:image/png;base64,${btoa(String.fromCharCode(...bytes))}` },
    ticket,
  ])
  expect((await session.history())[0]?.content).toEqual([{ type: 'text', text: 'Look.' }, picture, ticket])
})

it('names of data in a URL what is no picture of its type', async () => {
  const { session, run, media } = looking()
  const of = (url: string) => ({ type: 'media', mediaType: 'image/png', url, tokens: 1 }) as const
  const inline = (type: string, is = type) =>
    of(`data:${type};base64,${btoa(String.fromCharCode(...pictureOf(is, 12)))}`)
  const fine = [inline('image/png'), inline('image/jpeg'), of('https://x.test/a.png')]
  const foreign = [inline('image/png', 'image/jpeg'), of('data:image/png;base64,AAAA')]
  await session.append({ role: 'user', content: [...fine, ...foreign] })
  expect(await run()).toEqual({ status: 'done', steps: 1 })
  const { url: _, ...named } = of('')
  expect(media()).toEqual([...fine, named, named])
})

it('shows the model the newest pictures that all providers take, up to 8 MiB', async () => {
  const { session, run, media } = looking()
  const of = (mediaType: string, mib: number) =>
    attach(session, { mediaType, bytes: pictureOf(mediaType, mib * 1024 * 1024) })
  const [old, newer] = [await of('image/png', 4), await of('image/jpeg', 3)]
  const [drawing, photo] = [await of('image/svg+xml', 1), await of('image/heic', 1)]
  const fake = await attach(session, { mediaType: 'image/png', bytes: pictureOf('image/jpeg') })
  const gone = { type: 'media', mediaType: 'image/png', ref: 'gone' } as const
  const renamed = { ...photo, mediaType: 'image/png' }
  await session.append({ role: 'user', content: [old] })
  // A picture takes room each time that it is named.
  await session.append({ role: 'user', content: [newer, drawing, photo, renamed, fake, gone, newer] })
  await run()
  const shown = () => media()?.map((part) => 'url' in part)
  expect(shown()).toEqual([false, true, false, false, false, false, false, true])
  await session.append({ role: 'user', content: [await of('image/webp', 8)] })
  await run()
  expect(shown()).toEqual([false, false, false, false, false, false, false, false, true])
})

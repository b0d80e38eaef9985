/** Files of messages, as they are opened. */
import { expect, it } from 'vitest'
import { partsOf } from '../../../src/chat/element/rows.ts'
import type { Chat } from '../../../src/chat/open-chat.ts'
import { pictureOf } from '../../everywhere/pictures.ts'
import { idle, talked, until } from './states.ts'
import { browser, SRC, syncedTab } from './support.ts'
import { TestService } from './test-service.ts'

const PICTURE = pictureOf('image/png')
const UPLOADS = [{ name: 'seat.png', mediaType: 'image/png', bytes: PICTURE }]
const NOBODY_THERE = { code: 'ERR_OFFLINE' }

/** Ids of the files of what shows. */
function refsIn({ conversation }: Chat): readonly string[] {
  const parts = conversation.getSnapshot().messages.flatMap(({ message }) => partsOf(message.content))
  return parts.flatMap((part) => (part.type === 'media' && part.ref ? [part.ref] : []))
}

it('opens a file of a conversation on this device, until its message is forgotten', async () => {
  const chat = browser().open({ model: () => 'A seat.' })
  await chat.conversation.send('What is this?', { uploads: UPLOADS })
  const { messages } = await until(chat, idle)
  const [ref = ''] = refsIn(chat)
  expect(await chat.conversation.attachment(ref)).toMatchObject({ mediaType: 'image/png', bytes: PICTURE })
  await chat.conversation.forgetMessage(messages[0]?.message.id ?? '')
  expect(await chat.conversation.attachment(ref)).toBeUndefined()
  await chat.close()
})

it('opens one of a service from the copy without a network', async () => {
  const [place, service] = [browser(), new TestService()]
  const chat = syncedTab(place, service)
  await chat.conversation.send('What is this?', { uploads: UPLOADS })
  await until(chat, (state) => idle(state) && state.messages.length === 2)
  place.network.set(false)
  service.isThere = false
  const [ref = ''] = refsIn(chat)
  expect(await chat.conversation.attachment(ref)).toMatchObject({ mediaType: 'image/png', bytes: PICTURE })
  await chat.close()
})

it('opens one that is not in the copy from the service, and says where that is not reached', async () => {
  const [place, service] = [browser(), new TestService()]
  const chat = syncedTab(place, service)
  const ref = await service.attach('ada', await talked(chat, 'Hello.'), '<p>A page</p>')
  const found = await chat.conversation.attachment(ref)
  expect([found?.mediaType, new TextDecoder().decode(found?.bytes)]).toEqual(['text/html', '<p>A page</p>'])
  expect(await chat.conversation.attachment('none')).toBeUndefined()
  service.isThere = false
  await expect(chat.conversation.attachment(ref)).rejects.toMatchObject(NOBODY_THERE)
  await chat.close()
})

it('opens one of a service of which no copy is here, with a fresh token where one is refused', async () => {
  const service = new TestService()
  const ref = await service.attach('ada', 'trip', 'A ticket')
  const refused: (string | undefined)[] = []
  const chat = browser().open({
    src: SRC,
    getToken: (token) => {
      refused.push(token)
      service.isKnown = token !== undefined
      return 'ada'
    },
    platform: { fetch: service.fetch, WebSocket: undefined },
  })
  await chat.conversation.open('trip', { home: 'edge' })
  refused.length = 0
  const found = await chat.conversation.attachment(ref)
  expect(new TextDecoder().decode(found?.bytes)).toBe('A ticket')
  expect(refused).toEqual([undefined, 'ada'])
  service.isThere = false
  await expect(chat.conversation.attachment(ref)).rejects.toMatchObject(NOBODY_THERE)
  await chat.close()
})

it('says of one that the service does not have that it is gone, and whose token is refused', async () => {
  const service = new TestService()
  const chat = browser().open({
    src: SRC,
    getToken: () => 'ada',
    platform: { fetch: service.fetch, WebSocket: undefined },
  })
  await chat.conversation.open('trip', { home: 'edge' })
  expect(await chat.conversation.attachment('none')).toBeUndefined()
  service.isKnown = false
  await expect(chat.conversation.attachment('none')).rejects.toMatchObject({ code: 'ERR_UNAUTHENTICATED' })
  await chat.close()
})

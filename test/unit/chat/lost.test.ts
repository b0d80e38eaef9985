/** The browser removes what it had kept, but not that it had. */
import { expect, it } from 'vitest'
import { idle, said, talked, until } from './states.ts'
import { type Browser, browser, syncedTab as synced } from './support.ts'
import { TestService } from './test-service.ts'

const model = (): string => 'Yes.'

/** Removes all databases, as a browser does that needs room. */
async function lose({ factory }: Browser): Promise<void> {
  for (const { name = '' } of await factory.databases())
    await new Promise((done) => {
      factory.deleteDatabase(name).onsuccess = done
    })
}

it('begins again with a new conversation once it was said that what was here is gone', async () => {
  const place = browser()
  const before = place.open({ model })
  await talked(before, 'Hello.')
  await before.close()
  await lose(place)
  const chat = place.open({ model })
  await chat.sessions.search('')
  await chat.conversation.create()
  expect(await chat.conversation.send('Is it there?')).toBe(false)
  expect(chat.conversation.getSnapshot()).toMatchObject({
    storage: 'lost',
    problem: { code: 'ERR_STORAGE_LOST' },
  })
  await talked(chat, 'Again.')
  expect(chat.conversation.getSnapshot()).toMatchObject({ storage: 'ok', problem: undefined })
  expect((await chat.sessions.search('')).map(({ title }) => title)).toEqual(['Again.'])
  await chat.close()
})

it('begins again where it is lost while it shows', async () => {
  const place = browser()
  const chat = place.open({ model })
  await talked(chat, 'Hello.')
  await lose(place)
  expect(await chat.conversation.send('Still there?')).toBe(false)
  expect(chat.conversation.getSnapshot().storage).toBe('lost')
  await talked(chat, 'Again.')
  expect((await chat.sessions.search('')).map(({ title }) => title)).toEqual(['Again.'])
  await chat.close()
})

it('fetches again what the service has of what is lost', async () => {
  const [place, service] = [browser(), new TestService()]
  const before = synced(place, service)
  const id = await talked(before, 'Two seats to Turin.')
  await before.close()
  await lose(place)
  const chat = synced(place, service)
  await chat.conversation.open(id)
  await until(chat, idle)
  expect(said(chat.conversation.getSnapshot())).toHaveLength(2)
  expect(chat.conversation.getSnapshot()).toMatchObject({ storage: 'ok', problem: undefined })
  expect(await chat.conversation.send('By the window.')).toBe(true)
  await until(chat, (state) => idle(state) && state.messages.length === 4)
  expect(await service.history('ada', id)).toHaveLength(4)
  await chat.close()
  await lose(place)
  const last = synced(place, service)
  expect(await last.signOut({ force: true })).toEqual({ done: true, lost: [] })
  await last.close()
})

it('fetches it again where it is lost while it shows, with a new conversation', async () => {
  const [place, service] = [browser(), new TestService()]
  const chat = synced(place, service)
  await talked(chat, 'Two seats to Turin.')
  await lose(place)
  expect(await chat.conversation.send('Still there?')).toBe(false)
  expect(chat.conversation.getSnapshot().storage).toBe('lost')
  const id = await talked(chat, 'Again.')
  expect((await chat.sessions.search('')).map(({ title }) => title).toSorted()).toEqual([
    'Again.',
    'Two seats to Turin.',
  ])
  expect(await service.history('ada', id)).toHaveLength(2)
  await chat.close()
})

it('says that what was not sent yet is lost', async () => {
  const [place, service] = [browser(), new TestService()]
  const before = synced(place, service)
  const id = await talked(before, 'Two seats to Turin.')
  place.network.set(false)
  expect(await before.conversation.send('By the window.')).toBe(true)
  await before.close()
  await lose(place)
  place.network.set(true)
  const chat = synced(place, service)
  await chat.sessions.search('')
  await chat.conversation.open(id)
  await until(chat, idle)
  expect(chat.conversation.getSnapshot()).toMatchObject({
    storage: 'ok',
    problem: { code: 'ERR_STORAGE_LOST' },
  })
  await chat.close()
})

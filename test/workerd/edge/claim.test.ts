import { runInDurableObject } from 'cloudflare:test'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { stringifyContext } from '../../../src/index.ts'
import { sabotage, watch } from './saboteur.ts'
import { said, World } from './world.ts'

beforeAll(async () => {
  // What is ended is logged.
  vi.spyOn(console, 'error').mockReturnValue(undefined)
  await sabotage()
})

describe('claiming what a guest did', () => {
  it('moves a session that was made again under the same name too, and loses none of the two', async () => {
    const [guest, ada] = [await World.guest(), new World()]
    await guest.create()
    await guest.append('trip', said('m1', 'The first trip.'))
    expect((await ada.claim(guest.token)).body.sessions).toEqual([{ from: 'trip', to: 'trip' }])
    await guest.create()
    await guest.append('trip', said('m2', 'The second trip.'))
    const { body } = await ada.claim(guest.token)
    expect(body.sessions).toHaveLength(1)
    const second = body.sessions[0]?.to ?? ''
    expect(second).not.toBe('trip')
    expect(await ada.messages('trip')).toEqual(['m1: "The first trip."'])
    expect(await ada.messages(second)).toEqual(['m2: "The second trip."'])
    await guest.create()
    await guest.append('trip', said('m3', 'The third trip.'))
    const third = (await ada.claim(guest.token)).body.sessions[0]?.to ?? ''
    expect(await ada.messages(third)).toEqual(['m3: "The third trip."'])
    expect(await ada.listed()).toEqual(['trip', second, third].sort())
  })

  it('completes when it is repeated after an object ended at any step', async () => {
    const setup = async () => {
      const [guest, ada] = [await World.guest(), new World()]
      await guest.create('trip', { title: 'Turin' })
      await guest.append('trip', said('m1', 'Two seats to Turin.'))
      await guest.remember('trip', 'Window seats.')
      const look = async () => ({
        listed: await ada.listed(),
        messages: await ada.messages(),
        facts: await ada.facts(),
        left: [await guest.listed(), await guest.messages(), await guest.facts()],
        title: (await ada.call('GET', '/v1/sessions/trip')).body?.title,
      })
      const scopes = [guest.user, guest.scope(), ada.user, ada.scope()]
      return { guest, ada, look, scopes }
    }
    const calm = await setup()
    const counted = watch(calm.scopes)
    expect((await calm.ada.claim(calm.guest.token)).status).toBe(200)
    const steps = counted.count
    const after = await calm.look()
    expect(after).toMatchObject({ listed: ['trip'], facts: ['Window seats.'], left: [[], 404, []] })
    console.log(steps)
    for (let at = 1; at <= steps; at += 3) {
      const { guest, ada, look, scopes } = await setup()
      const found = watch(scopes, at)
      const first = (await ada.claim(guest.token)).status
      watch(scopes)
      let status = 0
      for (let tries = 0; tries < 3 && status !== 200; tries++)
        ({ status } = await ada.claim(guest.token))
      const now = await look()
      if (JSON.stringify(now) !== JSON.stringify(after)) console.log(at, found.ended, first, status, JSON.stringify(now))
    }
  }, 300_000)
})

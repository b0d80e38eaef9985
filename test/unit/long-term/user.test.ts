import { describe, expect, it } from 'vitest'
import { createMemory, mapStore, type SettingsPatch } from '../../../src/index.ts'
import { decide } from '../../../src/kernel/log/decide.ts'
import { listSessions } from '../../../src/operations/sessions.ts'
import { changeSettings, readSettings } from '../../../src/operations/settings.ts'
import { fullMemory } from '../../contract/full-memory.ts'

describe('memory.user', () => {
  it('keeps what users share apart by user and tenant, and from their sessions', async () => {
    const memory = fullMemory({ store: mapStore(), budget: 16_000 })
    const ada = memory.user({ userId: 'ada' })
    await ada.profile.set('SOUL.md', 'You are calm.')
    await ada.skills.set({ name: 'tides', description: 'Reads tide tables.', text: '' })
    await changeSettings(memory, { userId: 'ada' }, { pin_budget_tokens: 7 })
    await memory.session({ userId: 'ada' }).append({ role: 'user', content: 'Hello' })
    for (const scope of [{ userId: 'bo' }, { tenant: 'harbour', userId: 'ada' }, { userId: '__proto__' }]) {
      const other = memory.user(scope)
      expect(await other.profile.list()).toEqual([])
      expect(await other.skills.list()).toEqual([])
      expect((await readSettings(memory, scope)).pin_budget_tokens).toBe(1500)
    }
    expect(await memory.user({ userId: 'ada' }).profile.list()).toHaveLength(1)
    expect(await listSessions(memory, { userId: 'ada' })).toHaveLength(1)
  })

  it('refuses a user who has no name', () => {
    const memory = fullMemory({ store: mapStore(), budget: 16_000 })
    expect(() => memory.user({ userId: '' })).toThrow('user: userId must not be empty')
  })
})

describe('settings', () => {
  const ADA = { userId: 'ada' }
  const DEFAULTS = {
    v: 1,
    working_memory_budget_tokens: 3000,
    pin_budget_tokens: 1500,
    skills_index_budget_tokens: 800,
    recall_budget_tokens: 700,
  }
  const setUp = () => createMemory({ store: mapStore(), budget: 16_000 })

  it('are written with their defaults the first time', async () => {
    const store = mapStore()
    expect(await readSettings(createMemory({ store, budget: 16_000 }), { userId: 'ada' })).toEqual(DEFAULTS)
    const row = await store.open({ userId: 'ada' }).register('settings')
    expect(JSON.parse(row?.body ?? '')).toEqual(DEFAULTS)
  })

  it('change field by field', async () => {
    const memory = setUp()
    await changeSettings(memory, ADA, { working_memory_budget_tokens: 1 })
    const expected = { ...DEFAULTS, working_memory_budget_tokens: 1, pin_budget_tokens: 0 }
    expect(await changeSettings(memory, ADA, { pin_budget_tokens: 0 })).toEqual(expected)
    expect(await changeSettings(memory, ADA, {})).toEqual(expected)
    const absent = { pin_budget_tokens: undefined } as unknown as SettingsPatch
    expect(await changeSettings(memory, ADA, absent)).toEqual(expected)
    expect(await readSettings(memory, ADA)).toEqual(expected)
  })

  it('lose no change of two writers at once', async () => {
    const store = mapStore()
    const [one, other] = [createMemory({ store, budget: 16_000 }), createMemory({ store, budget: 16_000 })]
    await Promise.all([
      changeSettings(one, ADA, { pin_budget_tokens: 1 }),
      changeSettings(other, ADA, { recall_budget_tokens: 2 }),
    ])
    const expected = { ...DEFAULTS, pin_budget_tokens: 1, recall_budget_tokens: 2 }
    expect(await readSettings(one, ADA)).toEqual(expected)
  })

  it.each([
    [{ working_memory_budget_tokens: 0 }, 'working_memory_budget_tokens'],
    [{ pin_budget_tokens: -1 }, 'pin_budget_tokens'],
    [{ skills_index_budget_tokens: 0.5 }, 'skills_index_budget_tokens'],
    [{ recall_budget_tokens: Number.NaN }, 'recall_budget_tokens'],
    [{ recall_budget_tokens: null }, 'recall_budget_tokens'],
    [{ pins: 1 }, 'patch.pins'],
    [{ v: 2 }, 'patch.v'],
    [JSON.parse('{"__proto__":{}}'), 'patch.__proto__'],
    ['all', 'patch'],
  ])('refuse %j', async (patch, argument) => {
    const memory = setUp()
    const before = await readSettings(memory, ADA)
    await expect(changeSettings(memory, ADA, patch as never)).rejects.toMatchObject({
      code: 'ERR_INVALID_ARGUMENT',
      argument,
    })
    expect(await readSettings(memory, ADA)).toEqual(before)
  })

  it('of a newer version are neither read nor changed', async () => {
    const store = mapStore()
    const memory = createMemory({ store, budget: 16_000 })
    await store.open({ userId: 'ada' }).commit(
      [
        {
          envelope: { opId: 'newer', kind: 'put', ids: ['settings'], key: 'settings', base: null },
          bodies: ['{"v":2}'],
        },
      ],
      decide,
    )
    await expect(readSettings(memory, ADA)).rejects.toMatchObject({ code: 'ERR_UPGRADE_REQUIRED' })
    await expect(changeSettings(memory, ADA, {})).rejects.toMatchObject({ code: 'ERR_UPGRADE_REQUIRED' })
  })
})

/** What was typed or added and not sent is kept, and is its writer's alone. */
import { describe, expect, it } from 'vitest'
import { type Added, addedDrafts } from '../../../src/chat/homes/added.ts'
import { deleteDatabase } from '../../../src/chat/homes/delete-database.ts'
import { type DraftEvent, storedDrafts } from '../../../src/chat/homes/drafts.ts'
import { Identity, mayBe } from '../../../src/chat/homes/identity.ts'
import { memoryStorage } from '../../../src/chat/homes/platform.ts'
import { allTexts, type Browser, browser } from './support.ts'

/** A tab, of which a test says whom its tokens name. */
function tab(storage = memoryStorage()) {
  const told: DraftEvent[] = []
  let ids = 0
  const identity: Identity = new Identity({ storage, newId: () => `g${++ids}` }, 'chat', (subject) =>
    drafts.tell(mayBe(identity.heard, subject) ? 'named' : 'left', identity.heard ?? subject),
  )
  const drafts = storedDrafts(storage, 'drafts', () => identity.heard)
  drafts.subscribe((event) => told.push(event))
  return { drafts, identity, told, storage }
}

describe('a draft', () => {
  it('is of who wrote it: another one has their own, also after a reload', () => {
    const { drafts, identity, told, storage } = tab()
    identity.subject = 'ada'
    drafts.write('new', 'of Ada')
    identity.subject = 'bob'
    expect(told).toEqual(['named', 'left'])
    expect(drafts.read('new')).toBe('')
    drafts.write('new', 'of Bob')
    const again = tab(storage)
    expect(again.drafts.read('new')).toBe('of Bob')
    again.identity.subject = 'ada'
    expect(again.drafts.read('new')).toBe('of Ada')
    again.drafts.write('new', '')
    again.identity.subject = 'bob'
    expect(again.drafts.read('new')).toBe('of Bob')
  })

  it('stays with a guest who becomes a user, and is not a guest’s who comes after one', () => {
    const { drafts, identity, told } = tab()
    drafts.write('new', 'of the guest')
    identity.subject = 'ada'
    expect([drafts.read('new'), told]).toEqual(['of the guest', ['named']])
    drafts.write('new', 'of Ada')
    identity.subject = undefined
    expect([drafts.read('new'), told]).toEqual(['', ['named', 'left']])
  })

  it('is kept in a tab under the name that this tab has heard, whatever another one has', () => {
    const one = tab()
    one.identity.subject = 'ada'
    const other = tab(one.storage)
    other.identity.subject = 'bob'
    one.drafts.write('new', 'of Ada')
    expect([one.drafts.read('new'), other.drafts.read('new')]).toEqual(['of Ada', ''])
  })

  it('is told of before it is forgotten, or known to be somebody’s', () => {
    const { drafts, identity } = tab()
    const seen: string[] = []
    drafts.subscribe((event) => seen.push(`${event}: ${drafts.read('new')}`))
    drafts.write('new', 'text')
    identity.subject = 'ada'
    identity.subject = 'ada'
    identity.subject = 'bob'
    drafts.clear()
    expect(seen).toEqual(['named: text', 'left: text', 'gone: '])
  })
})

describe('what was added to a draft', () => {
  const added = (...pasted: readonly string[]): Added => ({ files: [], pasted })

  function over({ factory, platform }: Browser, user: () => string | undefined = () => undefined) {
    const storage = platform.storage ?? memoryStorage()
    let ids = 0
    const places = storedDrafts(storage, 'added', user)
    const of = addedDrafts({ indexedDB: factory, newId: () => `${user()}-${++ids}` }, 'chat', places)
    return {
      read: (name: string) => of(places.own()).read(name),
      write: (name: string, added: Added) => of(places.own()).write(name, added),
    }
  }

  it('is there again after a reload, in its conversation, until it is sent', async () => {
    const place = browser()
    const before = over(place)
    await Promise.all([before.write('trip', added('low')), before.write('other', added('high'))])
    await before.write('trip', added('low', 'tide'))
    const again = over(place)
    expect((await again.read('trip')).pasted).toEqual(['low', 'tide'])
    await again.write('trip', added())
    expect((await again.read('trip')).pasted).toEqual([])
    expect((await again.read('other')).pasted).toEqual(['high'])
    expect(await allTexts(place)).not.toContain('tide')
  })

  it('is its writer’s alone', async () => {
    const place = browser()
    await over(place, () => 'ada').write('new', added('of Ada'))
    const bob = over(place, () => 'bob')
    expect((await bob.read('new')).pasted).toEqual([])
    await bob.write('new', added('of Bob'))
    expect((await over(place, () => 'ada').read('new')).pasted).toEqual(['of Ada'])
  })

  it('is refused above 32 MiB in all, and then no older state of it stays', async () => {
    const place = browser()
    const kept = over(place)
    const half = 'x'.repeat(8 * 1024 * 1024)
    await kept.write('other', added(half))
    await kept.write('trip', added('SWORDFISH'))
    await expect(kept.write('trip', added('SWORDFISH', half))).rejects.toMatchObject({ code: 'ERR_LIMIT' })
    expect(await kept.read('trip')).toMatchObject({ pasted: ['SWORDFISH', half], isUnkept: true })
    expect((await over(place).read('trip')).pasted).toEqual([])
    expect(await allTexts(place)).not.toContain('SWORDFISH')
    await kept.write('other', added())
    await kept.write('trip', added('small', half))
    expect((await kept.read('trip')).pasted).toHaveLength(2)
  })

  it('of conversations that nobody wrote in for long makes room', async () => {
    const place = browser()
    const kept = over(place)
    for (let place = 0; place <= 100; place++) await kept.write(`c${place}`, added(`text of c${place};`))
    await kept.write('last', added('more'))
    const texts = await allTexts(place)
    expect([0, 1, 2].map((place) => texts.includes(`text of c${place};`))).toEqual([false, false, true])
  })

  it('is of who uses the chat when it is added, though its turn comes later', async () => {
    const place = browser()
    let user = 'ada'
    const kept = over(place, () => user)
    const writing = [kept.write('new', added('1')), kept.write('new', added('1', 'of Ada'))]
    user = 'bob'
    await Promise.all(writing)
    expect((await kept.read('new')).pasted).toEqual([])
    user = 'ada'
    expect((await kept.read('new')).pasted).toEqual(['1', 'of Ada'])
  })

  it('is not kept, and says so, where its place cannot be noted or there is no database', async () => {
    const place = browser()
    const storage = {
      ...memoryStorage(),
      setItem() {
        throw new DOMException('full', 'QuotaExceededError')
      },
    }
    const failing = { code: 'ERR_STORAGE' }
    const full = over({ ...place, platform: { storage } })
    await expect(full.write('trip', added('SWORDFISH'))).rejects.toMatchObject(failing)
    expect(await allTexts(place)).not.toContain('SWORDFISH')
    const places = storedDrafts(memoryStorage(), '')
    const none = addedDrafts({ indexedDB: undefined, newId: () => '1' }, 'chat', places)(places.own())
    await expect(none.write('trip', added('x'))).rejects.toMatchObject(failing)
    await none.write('trip', added())
    const broken = {
      open() {
        throw new DOMException('no', 'UnknownError')
      },
    } as unknown as IDBFactory
    await expect(over({ ...place, factory: broken }).write('trip', added('x'))).rejects.toMatchObject(failing)
  })

  it('is gone once all is forgotten, also what any tab writes meanwhile', async () => {
    for (let turns = 0; turns < 60; turns += 3) {
      const place = browser()
      const { storage = memoryStorage() } = place.platform
      const tabs = [storedDrafts(storage, 'added'), storedDrafts(storage, 'added')] as const
      const [one, other] = tabs.map((places, tab) => {
        let ids = 0
        return addedDrafts(
          { indexedDB: place.factory, newId: () => `${tab}-${++ids}` },
          'chat',
          places,
        )(places.own())
      })
      const writing = [one, other].flatMap((each) => [
        each?.write('trip', added('SWORDFISH')),
        each?.write('trip', added('SWORDFISH 2')),
      ])
      const settled = Promise.allSettled(writing)
      for (let turn = 0; turn < turns; turn++) await new Promise(setImmediate)
      tabs[0].clear()
      tabs[1].tell('gone')
      await deleteDatabase({ indexedDB: place.factory, storage }, 'chat/added')
      await settled
      expect(await allTexts(place)).not.toContain('SWORDFISH')
      expect(storage.getItem('added')).toBeNull()
    }
  })
})

describe('a draft that is too long', () => {
  it('leaves what was kept before', () => {
    const { drafts } = tab()
    drafts.write('trip', 'x'.repeat(20_000))
    drafts.write('trip', 'x'.repeat(20_001))
    expect(drafts.read('trip')).toHaveLength(20_000)
  })
})

import { describe, expect, it } from 'vitest'
import { decide } from '../../src/kernel/log/decide.ts'
import type { Attachment, ScopeStore } from '../../src/ports/store.ts'
import { UNUSED_AT_ONCE } from '../../src/ports/store.ts'
import type { DescribeStoreOptions } from './abilities.ts'
import {
  append,
  bytesOf,
  erase,
  IDS,
  names,
  type Open,
  openScope,
  readAll,
  remove,
  SCOPE,
} from './samples.ts'

export function describeAttachments(open: Open, { reopen }: DescribeStoreOptions): void {
  describe('attachments', () => {
    it('come back byte for byte, of every size, with type and id', async () => {
      const scope = await openScope(open)
      const sizes = [0, 1, 255, 2 ** 18 - 1, 2 ** 18, 2 ** 18 + 1, 3 * 2 ** 18, 8 * 2 ** 20]
      for (const size of sizes) {
        const given = attachment(`a${size}`, size)
        expect(await scope.attach(given, 1)).toBe('stored')
        await expectSame(scope, given)
      }
      for (const [index, id] of IDS.entries()) await scope.attach(attachment(id, index + 1), 1)
      for (const [index, id] of IDS.entries()) await expectSame(scope, attachment(id, index + 1))
    })

    it('share no bytes with what was given, nor with what was read before', async () => {
      const scope = await openScope(open)
      const given = attachment('a', 8)
      await scope.attach(given, 1)
      given.bytes.fill(0)
      const read = await scope.attachment('a')
      await expectSame(scope, attachment('a', 8))
      read?.bytes.fill(0)
      await expectSame(scope, attachment('a', 8))
    })

    it('that nobody put are not there', async () => {
      const store = await open()
      expect(await store.open(SCOPE).attachment('a')).toBeUndefined()
      await store.open({ ...SCOPE, sessionId: 'other' }).attach(attachment('a', 1), 1)
      await store.open({ userId: SCOPE.userId }).attach(attachment('a', 1), 1)
      expect(await store.open(SCOPE).attachment('a')).toBeUndefined()
    })

    it('stay as they are when another is put under the same id', async () => {
      const scope = await openScope(open)
      await scope.attach(attachment('a', 300_000), 1)
      expect(await scope.attach({ ...attachment('a', 3), mediaType: 'text/plain' }, 2)).toBe('kept')
      await expectSame(scope, attachment('a', 300_000))
    })

    it('are outside of the log: they take no number, and no row is theirs', async () => {
      const scope = await openScope(open)
      const before = await readAll(scope)
      await scope.attach(attachment('m1', 3), 1)
      expect(await readAll(scope)).toEqual(before)
      await scope.commit([append('op-1', ['m1'])], decide)
      expect((await scope.head()).seq).toBe(1)
      await expectSame(scope, attachment('m1', 3))
    })

    it('are removed by a delete of their id, and refused after it', async () => {
      const scope = await openScope(open)
      for (const id of ['a', 'b']) await scope.attach(attachment(id, 300_000), 1)
      await scope.commit([remove('op-1', 'attachment:a'), remove('op-2', 'attachment:later')], decide)
      expect(await scope.attachment('a')).toBeUndefined()
      await expectSame(scope, attachment('b', 300_000))
      for (const id of ['a', 'later']) {
        expect(await scope.attach(attachment(id, 1), 1)).toBe('deleted')
        expect(await scope.attachment(id)).toBeUndefined()
      }
    })

    it('are told apart from what is not there, without their bytes', async () => {
      const scope = await openScope(open)
      expect(await scope.attached(['a'])).toEqual([])
      for (const id of ['a', 'b', 'c']) await scope.attach(attachment(id, 300_000), 1)
      await scope.commit([remove('op-1', 'attachment:b')], decide)
      expect(await scope.attached(['d', 'c', 'b', 'a'])).toEqual(['c', 'a'])
      expect(await scope.attached([])).toEqual([])
      const many = names('p', 200)
      expect(await scope.attached([...many, 'a'])).toEqual(['a'])
    })

    it('are removed with all of their scope, and with nothing else', async () => {
      const store = await open()
      const scopes = [SCOPE, { ...SCOPE, sessionId: 'other' }].map((scope) => store.open(scope))
      const [scope, other] = scopes as [ScopeStore, ScopeStore]
      for (const one of scopes) await one.attach(attachment('a', 300_000), 1)
      await scope.commit([erase('op-1')], decide)
      expect(await scope.attachment('a')).toBeUndefined()
      await expectSame(other, attachment('a', 300_000))
      expect(await scope.attach(attachment('a', 3), 1)).toBe('stored')
      await expectSame(scope, attachment('a', 3))
    })

    it('are unused until a message that names them is accepted', async () => {
      const store = await open()
      const scope = store.open(SCOPE)
      expect(await store.oldestUnused()).toBeUndefined()
      for (const [at, id] of ['a', 'b', 'c'].entries()) await scope.attach(attachment(id, 3), at + 1)
      expect(await store.oldestUnused()).toBe(1)
      const refused = naming(append('op-1', ['m1'], { round: 'nowhere' }), ['a'])
      await scope.commit([refused], decide)
      expect(await store.oldestUnused()).toBe(1)
      await scope.commit([naming(append('op-2', ['m2']), ['a', 'b', 'nobody'])], decide)
      expect(await store.oldestUnused()).toBe(3)
      expect(await store.removeUnused(10)).toBe(1)
      expect(await scope.attachment('c')).toBeUndefined()
      for (const id of ['a', 'b']) await expectSame(scope, attachment(id, 3))
      expect(await store.removeUnused(10)).toBe(0)
    })

    it('are used by a message that follows others', async () => {
      const store = await open()
      const scope = store.open(SCOPE)
      await scope.commit([append('op-1', ['m1'])], decide)
      await scope.attach(attachment('a', 3), 1)
      await scope.commit([naming(append('op-2', ['m2']), ['a'])], decide)
      expect(await store.oldestUnused()).toBeUndefined()
    })

    it('are unused no longer when they were deleted or erased', async () => {
      const store = await open()
      const scope = store.open(SCOPE)
      await scope.attach(attachment('a', 3), 1)
      await scope.commit([remove('op-1', 'attachment:a')], decide)
      expect(await store.oldestUnused()).toBeUndefined()
      await scope.attach(attachment('b', 3), 1)
      await scope.commit([erase('op-2')], decide)
      expect(await store.oldestUnused()).toBeUndefined()
    })

    it('that are unused are removed oldest first, of all scopes, up to a time and so many at once', async () => {
      const store = await open()
      const scopes = [SCOPE, { userId: 'bob' }].map((scope) => store.open(scope)) as [ScopeStore, ScopeStore]
      const ids = names('a', UNUSED_AT_ONCE + 2)
      for (const [at, id] of ids.entries()) await scopes[at % 2]?.attach(attachment(id, 3), at)
      const left = async (): Promise<string[]> => {
        const there = await Promise.all(ids.map((id, at) => scopes[at % 2]?.attachment(id)))
        return ids.filter((_, at) => there[at])
      }
      expect(await store.removeUnused(1)).toBe(2)
      expect(await left()).toEqual(ids.slice(2))
      expect(await store.oldestUnused()).toBe(2)
      for (const [at, id] of ['x', 'y', 'z'].entries()) await scopes[0].attach(attachment(id, 3), 1_000 + at)
      expect(await store.removeUnused(2_000)).toBe(UNUSED_AT_ONCE)
      expect(await left()).toEqual([])
      expect(await store.oldestUnused()).toBe(1_000)
      await expectSame(scopes[0], attachment('x', 3))
    })

    it('are there after the store was opened again', async ({ skip }) => {
      if (!reopen) return skip('no reopen was given: this store does not claim to outlive its process')
      const store = await open()
      const scope = store.open(SCOPE)
      for (const id of ['a', 'b']) await scope.attach(attachment(id, 300_000), 5)
      await scope.commit([naming(append('op-1', ['m1']), ['a'])], decide)
      const again = await reopen(store)
      for (const id of ['a', 'b']) await expectSame(again.open(SCOPE), attachment(id, 300_000))
      expect(await again.oldestUnused()).toBe(5)
    })
  })
}

function attachment(id: string, size: number): Attachment {
  return { id, mediaType: 'image/PNG', bytes: bytesOf(size) }
}

function naming(op: ReturnType<typeof append>, attachments: readonly string[]): ReturnType<typeof append> {
  return { ...op, envelope: { ...op.envelope, attachments } }
}

/** As one text: comparing megabytes number by number takes seconds. */
async function expectSame(scope: ScopeStore, { id, mediaType, bytes }: Attachment): Promise<void> {
  const read = await scope.attachment(id)
  expect([read?.id, read?.mediaType, read?.bytes.length]).toEqual([id, mediaType, bytes.length])
  expect(read?.bytes.every((byte, at) => byte === bytes[at])).toBe(true)
}

import { evictDurableObject, runInDurableObject } from 'cloudflare:test'
import { describeSync } from '../../contract/index.ts'
import { fetchWorker, tokenOf } from './caller.ts'
import { backup, sessionObject, userObject } from './rows.ts'

const HEADER = 'Test-User'
const TENANT = 'homes'

describeSync('in the objects of the edge', () => {
  const objects = new Map<string, DurableObjectStub>()
  return {
    save: async () => {
      const kept = new Map<string, () => Promise<void>>()
      for (const [name, stub] of objects) kept.set(name, await backup(stub))
      return async () => {
        for (const [name, stub] of objects) {
          const restore = kept.get(name)
          if (restore) await restore()
          else await emptied(stub)
        }
      }
    },
    authorize: (user) => ({ [HEADER]: user }),
    fetch: async (request) => {
      const { method, headers } = request
      const { pathname, search } = new URL(request.url)
      const bytes = await request.arrayBuffer()
      const body = new TextDecoder().decode(bytes)
      const userId = headers.get(HEADER)
      if (userId !== null) {
        const user = { tenant: TENANT, userId }
        headers.set('Authorization', `Bearer ${await tokenOf(user)}`)
        objects.set(userId, userObject(user))
        for (const [, session = ''] of body.matchAll(/"session":"([\w-]+)"/g))
          objects.set(`${userId} ${session}`, sessionObject(user, session))
      }
      return fetchWorker(pathname + search, { method, headers, ...(method !== 'GET' && { body: bytes }) })
    },
  }
})

async function emptied(stub: DurableObjectStub): Promise<void> {
  await runInDurableObject(stub, (_, { storage }) => storage.deleteAll())
  await evictDurableObject(stub)
}

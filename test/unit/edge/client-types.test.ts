import { expectTypeOf, it } from 'vitest'
import type * as Client from '../../../src/client/index.ts'
import type * as Library from '../../../src/index.ts'

it('what calls give is what the library takes', () => {
  type Session = Client.SessionClient
  expectTypeOf<Awaited<ReturnType<Session['context']>>>().toEqualTypeOf<Library.Context>()
  expectTypeOf<Awaited<ReturnType<Session['messages']>>>().toEqualTypeOf<readonly Library.Message[]>()
  expectTypeOf<Parameters<Session['append']>[0]>().toEqualTypeOf<
    Parameters<Library.SessionBase['append']>[0]
  >()
  expectTypeOf<Client.RequestError>().toExtend<Library.PlimsollError>()
  expectTypeOf<typeof globalThis.WebSocket>().toExtend<Client.SocketClass>()
  expectTypeOf<typeof globalThis.fetch>().toExtend<Client.Fetch>()
})

it('a context is asked for there with the options of a session that recalls', () => {
  type Options = Library.ContextOptionsOf<{ recall: Library.RecallShape }>
  expectTypeOf<Client.ContextOptions & Pick<Options, 'tools'>>().toExtend<Options>()
  expectTypeOf<Options>().toExtend<Client.ContextOptions>()
})

import { type FullSession } from '../../contract/full-memory.ts'
import { expectTypeOf, it } from 'vitest'
import type * as Client from '../../../src/client/index.ts'
import type * as Core from '../../../src/index.ts'

/** Fields of the core that have no place in a request. */
type Sent<Options, Gone extends keyof Options> = Omit<Options, Gone>

it('shapes of the client are those of the core, both ways', () => {
  expectTypeOf<Client.Fact>().toEqualTypeOf<Core.Fact>()
  expectTypeOf<Client.FactInput>().toEqualTypeOf<Core.FactInput>()
  expectTypeOf<Client.FactKind>().toEqualTypeOf<Core.FactKind>()
  expectTypeOf<Client.FactQuery>().toEqualTypeOf<Core.FactQuery>()
  expectTypeOf<Client.Rating>().toEqualTypeOf<Core.Rating>()
  expectTypeOf<Client.Remembered>().toEqualTypeOf<Core.Remembered>()
  expectTypeOf<Client.AppendResult>().toEqualTypeOf<Core.AppendResult>()
  // How much a page may hold, the edge decides.
  expectTypeOf<Client.HistoryOptions>().toEqualTypeOf<Sent<Core.HistoryOptions, 'characters'>>()
  expectTypeOf<Client.ContextOptions>().toEqualTypeOf<Core.ContextOptionsOf<{ recall: Core.RecallShape }>>()
  expectTypeOf<Client.Branch>().toEqualTypeOf<Core.Branch>()
  expectTypeOf<Client.TailSection>().toEqualTypeOf<Core.TailSection>()
  expectTypeOf<Client.Limits>().toEqualTypeOf<Core.Limits>()
  expectTypeOf<Client.BudgetTokens>().toEqualTypeOf<Core.BudgetTokens>()
  expectTypeOf<Client.StartOptions>().toEqualTypeOf<Sent<Core.StartOptions, 'now'>>()
  expectTypeOf<Client.SkillEntry>().toEqualTypeOf<Core.SkillItem>()
  expectTypeOf<Client.Overflow>().toEqualTypeOf<Core.Overflow>()
  expectTypeOf<Client.Recalled>().toEqualTypeOf<Core.Recalled>()
  expectTypeOf<Client.RecallOptions>().toEqualTypeOf<Core.UserRecallOptions>()
  expectTypeOf<Client.ProfileDocument>().toEqualTypeOf<Core.ProfileDocument>()
  expectTypeOf<Client.Skill>().toEqualTypeOf<Core.Skill>()
  expectTypeOf<Client.StoredSkill>().toEqualTypeOf<Core.StoredSkill>()
  expectTypeOf<Client.ListedSkill>().toEqualTypeOf<Core.ListedSkill>()
  expectTypeOf<Client.Certificate>().toEqualTypeOf<Core.Certificate>()
  expectTypeOf<Client.Removed>().toEqualTypeOf<Core.Removed>()
  expectTypeOf<Client.AuditRecord>().toEqualTypeOf<Core.AuditRecord>()
  expectTypeOf<Client.AuditQuery>().toEqualTypeOf<Core.AuditQuery>()
  expectTypeOf<Client.SkillQuery>().toEqualTypeOf<Core.SkillQuery>()
  expectTypeOf<Client.Checkpointed<{ readonly at: number }>>().toEqualTypeOf<
    Core.Checkpointed<{ readonly at: number }>
  >()
  expectTypeOf<Client.Explanation>().toEqualTypeOf<Core.Explanation>()
  expectTypeOf<Client.Span>().toEqualTypeOf<Core.Span>()
  expectTypeOf<Client.Imported>().toEqualTypeOf<Core.Imported>()
  expectTypeOf<Client.ExportOptions>().toEqualTypeOf<Sent<Core.ExportOptions, 'format'>>()
  expectTypeOf<Client.Source>().toEqualTypeOf<Core.Source>()
})

it('shapes that are written another way here can be given there, and back', () => {
  expectTypeOf<Client.SessionStart>().toExtend<Core.SessionStart>()
  expectTypeOf<Core.SessionStart>().toExtend<Client.SessionStart>()
  expectTypeOf<Client.RecalledItem>().toExtend<Core.RecalledItem>()
  expectTypeOf<Core.RecalledItem>().toExtend<Client.RecalledItem>()
  expectTypeOf<Client.PinnedItem>().toExtend<Core.PinnedItem>()
  expectTypeOf<Core.PinnedItem>().toExtend<Client.PinnedItem>()
  // The edge says of a session what it is told there.
  expectTypeOf<Client.SessionInfo>().toExtend<Core.SessionInfo>()
  expectTypeOf<Core.SessionInfo>().toExtend<Client.SessionInfo>()
})

it('what calls give is what the library takes', () => {
  type Session = Client.SessionClient
  expectTypeOf<Awaited<ReturnType<Session['context']>>>().toEqualTypeOf<Core.Context>()
  expectTypeOf<Awaited<ReturnType<Session['messages']>>>().toEqualTypeOf<readonly Core.Message[]>()
  expectTypeOf<Parameters<Session['append']>[0]>().toEqualTypeOf<Parameters<Core.SessionBase['append']>[0]>()
  expectTypeOf<Client.RequestError>().toExtend<Core.PlimsollError>()
  expectTypeOf<typeof globalThis.WebSocket>().toExtend<Client.SocketClass>()
  expectTypeOf<typeof globalThis.fetch>().toExtend<Client.Fetch>()
})

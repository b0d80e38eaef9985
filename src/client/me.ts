import type { AuditQuery, AuditRecord } from '../ports/audit.ts'
import type { Certificate } from '../ports/certificate.ts'
import type { ProfileDocument } from '../ports/profile.ts'
import type { Recalled, UserRecallOptions } from '../ports/recall.ts'
import type { ListedSkill, Skill, SkillQuery, StoredSkill } from '../ports/skill.ts'
import type { Imported } from '../ports/transfer.ts'
import { passAbsent } from './error.ts'
import { type FactsClient, factsClient } from './facts.ts'
import type { CallOptions, WriteOptions } from './options.ts'
import { pathOf } from './paths.ts'
import { type ExportOptions, exportLines, type ImportOptions, importText } from './transfer.ts'
import type { Call, Transport } from './transport.ts'
import { boundTo, type VersionedOptions } from './versions.ts'

/** What became of a guest's sessions: the ids of those that are the caller's now. */
export interface Claimed {
  /**
   * Of all that were ever moved from that guest: what each was called, and what it is called now.
   */
  readonly sessions: readonly { readonly from: string; readonly to: string }[]
  /** How many facts were. */
  readonly facts: number
}

/** What all sessions of the caller share. */
export interface MeClient {
  /** Documents that are part of every prompt. */
  readonly profile: ProfileClient
  /** Instructions that a model loads when it needs them. */
  readonly skills: SkillsClient
  /** Preferences and constraints in the user's own word. */
  readonly facts: FactsClient
  /**
   * What a query finds among the user's facts, and in the sessions that are named, best first.
   * @throws ERR_INVALID_ARGUMENT
   */
  recall(query: string, options?: UserRecallOptions & CallOptions): Promise<readonly Recalled[]>
  /**
   * Moves the sessions of a guest, by the guest's token, to the caller, once. Idempotent. @throws
   * ERR_INVALID_ARGUMENT
   */
  claim(token: string, options?: WriteOptions): Promise<Claimed>
  /**
   * All that is stored of the caller, sessions included, as JSON lines, each with its end, as it
   * comes.
   *
   * @throws ERR_INTERRUPTED: it broke off, and is not whole
   */
  export(options?: ExportOptions & CallOptions): AsyncGenerator<string, void, undefined>
  /**
   * Imports what an export gave. What is there already is left; what differs, is left out or
   * counts for less than it says is reported. Idempotent: after any error, send the same again. A
   * large file may take longer than a call's time limit: give it a longer one.
   *
   * @throws ERR_INVALID_ARGUMENT (with the line), ERR_ENTRY_TOO_LARGE, ERR_RATE_LIMIT; what stands
   * before that is written
   */
  import(text: string, options?: ImportOptions & CallOptions): Promise<Imported>
  /**
   * What was promoted, forgotten, erased, exported or imported, the newest first: ids and counts,
   * no text. @throws ERR_INVALID_ARGUMENT
   */
  audit(query?: AuditQuery & CallOptions): Promise<readonly AuditRecord[]>
  /**
   * Removes all of the caller: every session, and what they share. Idempotent; where there are more
   * than 256 sessions the rest follows, and `already` of a later call says that all of it is gone.
   */
  erase(options?: CallOptions): Promise<Certificate>
}

export interface ProfileClient {
  /** All documents, by name. */
  list(options?: CallOptions): Promise<readonly ProfileDocument[]>
  get(name: string, options?: CallOptions): Promise<ProfileDocument | undefined>
  /**
   * @returns its version
   * @throws ERR_CONFLICT (`version`), ERR_ENTRY_TOO_LARGE (32 KiB), ERR_LIMIT (a 65th document);
   * nothing is written
   */
  set(name: string, text: string, options?: VersionedOptions): Promise<string>
  /** Idempotent. @throws ERR_CONFLICT (`version`) */
  delete(name: string, options?: VersionedOptions): Promise<void>
}

export interface SkillsClient {
  /** A page of the index, by name; more `after` the last one. */
  list(query?: SkillQuery & CallOptions): Promise<readonly ListedSkill[]>
  get(name: string, options?: CallOptions): Promise<StoredSkill | undefined>
  /**
   * Writes a skill: its parts, or the Markdown of a SKILL.md, whose front matter says the same
   * name.
   *
   * @returns its version
   * @throws ERR_INVALID_ARGUMENT, ERR_ENTRY_TOO_LARGE (64 KiB), ERR_CONFLICT (`version`); nothing
   * is written
   */
  set(name: string, skill: Omit<Skill, 'name'> | string, options?: VersionedOptions): Promise<string>
  /** Idempotent. @throws ERR_CONFLICT (`version`) */
  delete(name: string, options?: VersionedOptions): Promise<void>
}

export function meClient(transport: Transport): MeClient {
  const { get, json } = transport
  const profile = named<ProfileDocument, string>(transport, 'profile', (text) => ({ body: { text } }))
  const skills = named<StoredSkill, Omit<Skill, 'name'> | string>(transport, 'skills', (skill, name) =>
    typeof skill === 'string'
      ? { raw: { type: 'text/markdown; charset=utf-8', text: skill } }
      : { body: { ...skill, name } },
  )
  return {
    profile: {
      ...profile,
      list: async (options) =>
        (await get<{ readonly documents: readonly ProfileDocument[] }>(pathOf('me', 'profile'), options))
          .documents,
    },
    skills: {
      ...skills,
      list: async (query) =>
        (await get<{ readonly skills: readonly ListedSkill[] }>(pathOf('me', 'skills'), query)).skills,
    },
    facts: factsClient(transport, pathOf('me', 'facts')),
    async recall(query, { signal, timeoutMs, ...options } = {}) {
      const call = { signal, timeoutMs, body: { query, ...options } }
      return (await json<{ readonly items: readonly Recalled[] }>('POST', pathOf('me', 'recall'), call)).items
    },
    export: (options) => exportLines(transport, options),
    import: (text, options) => importText(transport, text, options),
    audit: async (query) =>
      (await get<{ readonly records: readonly AuditRecord[] }>(pathOf('me', 'audit'), query)).records,
    erase: (options) => json('DELETE', pathOf('me'), options),
    claim: (token, options) => json('POST', pathOf('me', 'claim'), { ...options, body: { token } }),
  }
}

interface Named<Value, Input> {
  get(name: string, options?: CallOptions): Promise<Value | undefined>
  set(name: string, input: Input, options?: VersionedOptions): Promise<string>
  delete(name: string, options?: VersionedOptions): Promise<void>
}

/** Things of the user's that have names and versions. */
function named<Value extends { readonly version: string }, Input>(
  { json }: Transport,
  kind: string,
  bodyOf: (input: Input, name: string) => Call,
): Named<Value, Input> {
  return {
    get: async (name, options) => json<Value>('GET', pathOf('me', kind, name), options).catch(passAbsent),
    async set(name, input, options) {
      const call = { ...boundTo(options), ...bodyOf(input, name) }
      return (await json<Value>('PUT', pathOf('me', kind, name), call)).version
    },
    delete: async (name, options) => json('DELETE', pathOf('me', kind, name), boundTo(options)),
  }
}

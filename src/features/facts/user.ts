import type { AuditQuery, AuditRecord } from '../../ports/audit.ts'
import type { Counter } from '../../ports/counter.ts'
import type { Host } from '../../ports/host.ts'
import type { ScopeStore } from '../../ports/store.ts'
import { factKey } from './fact.ts'
import type { FactOptions } from './fact-options.ts'
import { Facts } from './facts.ts'
import { readAudit } from '../../operations/audit.ts'
import { checkId, invalid } from '../../kernel/text/json.ts'
import type { LoadOnDemand } from '../../operations/on-demand.ts'
import { find } from '../recall/find.ts'
import { type Recalled, type RecallOptions } from '../../ports/recall.ts'
import type { Recall } from '../recall/lexical-recall.ts'
import { Profile } from '../profile/profile.ts'
import { changeSettings, readSettings } from '../../operations/settings.ts'
import { type Settings, type SettingsPatch } from '../../ports/settings.ts'
import { Skills } from '../skills/skills.ts'
import type { SessionInfo } from '../../ports/session.ts'
import type { Sessions } from '../../operations/sessions.ts'
import { factTokens, skillTokens } from '../../operations/start/start-items.ts'

export interface UserParts {
  /** The user's own scope. */
  readonly store: ScopeStore
  /** Contract: opens one of the user's sessions. */
  readonly open: (sessionId: string) => ScopeStore
  readonly sessions: () => Sessions
  readonly counter: Counter
  readonly host: Host
  readonly facts: FactOptions
  readonly recall: Recall | undefined
  readonly onDemand: LoadOnDemand
}

/** Sessions that one call looks through. */
const MOST_SESSIONS = 256

/** What all sessions of one user share. */
export class User {
  /** Preferences and constraints. What a session remembers as the user's word is here too. */
  readonly facts: Facts
  /** Documents that are part of every prompt. */
  readonly profile: Profile
  /** Instructions that a model loads when it needs them. */
  readonly skills: Skills
  readonly #parts: UserParts
  readonly #store: ScopeStore
  readonly #host: Host

  constructor(parts: UserParts) {
    const { store, open, counter, host, facts, onDemand } = parts
    this.#parts = parts
    this.#store = store
    this.#host = host
    this.facts = new Facts({
      store,
      host,
      ...facts,
      shared: true,
      tokensOf: (fact) => factTokens(counter, fact),
      trustOf: async () => undefined,
      forget: async (id) => {
        const { forgetShared } = await onDemand()
        await forgetShared({ userStore: store, open, host }, [factKey(id)], { action: 'forget', target: id })
      },
    })
    this.profile = new Profile(store, host)
    this.skills = new Skills({
      store,
      host,
      tokensOf: (entry) => skillTokens(counter, entry),
    })
  }

  /**
   * What was promoted, forgotten, erased, exported, imported or given another key, the newest first: ids and counts, no text. The newest 512
   * records are kept; an erase of the user leaves its own alone.
   *
   * @throws ERR_INVALID_ARGUMENT
   */
  audit(query: AuditQuery = {}): Promise<readonly AuditRecord[]> {
    return readAudit(this.#store, query)
  }

  /** Written with their defaults the first time. @throws ERR_UPGRADE_REQUIRED: a newer version of this library wrote them */
  settings(): Promise<Settings> {
    return readSettings(this.#store, this.#host)
  }

  /**
   * Changes settings field by field, for example `{ budget_tokens: { total: 2000 } }`: whole numbers of 0 or more, `total` of 1 or more.
   *
   * @returns all settings, as they are now
   * @throws ERR_INVALID_ARGUMENT, ERR_UPGRADE_REQUIRED; nothing is written
   */
  changeSettings(patch: SettingsPatch): Promise<Settings> {
    return changeSettings(this.#store, this.#host, patch)
  }

  /**
   * What a query finds among the user's facts, and in the sessions that are named, as one ranking, best first. A session's own facts are
   * not looked through.
   *
   * @throws ERR_INVALID_ARGUMENT (a memory without `recall` included)
   */
  recall(query: string, { sessions = [], ...options }: UserRecallOptions = {}): Promise<readonly Recalled[]> {
    const { recall, open } = this.#parts
    return find(
      {
        recall,
        sessions: async () => {
          const ids = sessions === 'all' ? await this.#newest() : sessions
          if (!Array.isArray(ids) || ids.length > MOST_SESSIONS)
            throw invalid('recall', 'sessions', `must be all or a list of at most ${MOST_SESSIONS} ids`)
          return ids.flatMap((sessionId: string) => {
            const store = open(checkId('recall', 'sessions', sessionId))
            return recall ? [{ sessionId, store, index: recall.open(store) }] : []
          })
        },
        facts: () => this.facts.list(),
      },
      query,
      options,
    )
  }

  async #newest(): Promise<readonly string[]> {
    const found: SessionInfo[] = []
    for (let after: string | undefined; ; ) {
      const page = await this.#parts.sessions().list(after === undefined ? {} : { after })
      found.push(...page)
      after = page.at(-1)?.sessionId
      if (after === undefined) break
    }
    return found
      .sort((one, other) => other.createdAt - one.createdAt)
      .slice(0, MOST_SESSIONS)
      .map(({ sessionId }) => sessionId)
  }
}

import { createMemory } from '../create-memory.ts'
import { type FactsShape, facts } from '../features/facts/feature.ts'
import { type ProfileShape, profile } from '../features/profile/feature.ts'
import { recall } from '../features/recall/recall.ts'
import { type SkillsShape, skills } from '../features/skills/feature.ts'
import { start } from '../operations/start/start.ts'
import type { Counter } from '../ports/counter.ts'
import type { FactInput } from '../ports/fact.ts'
import { isRecord } from '../ports/is-record.ts'
import type { Session, User } from '../ports/memory.ts'
import type { MessageInput } from '../ports/message.ts'
import type { Skill } from '../ports/skill.ts'
import type { SessionStart, StartOptions } from '../ports/start.ts'
import { FIXED_SECRET } from '../replay/plimsoll.ts'
import { mapStore } from '../stores/map.ts'

const USER = { userId: 'user' } as const

/**
 * What a file remembers: messages of one session, facts, skills and documents. In memory, gone with
 * the process.
 */
export class MemoryFile {
  readonly #session: Session<{ facts: FactsShape }>
  readonly #user: User<{ profile: ProfileShape; skills: SkillsShape }>

  /** @param now Unix milliseconds, for all that the file does not date */
  constructor(counter: Counter, now: number) {
    let ids = 0
    const memory = createMemory({
      store: mapStore(),
      counter,
      budget: 16_000,
      use: [
        profile(),
        skills(),
        // What is read was remembered at some time, and not all of it within this hour.
        facts({ caps: { perHour: Number.POSITIVE_INFINITY } }),
        recall(),
      ],
      clock: () => now,
      newId: () => `id-${++ids}`,
      newSecret: () => FIXED_SECRET,
    })
    this.#session = memory.session({ ...USER, sessionId: 'session' })
    this.#user = memory.user(USER)
  }

  /**
   * Takes one line; what has no id is named after its number. Throws an error that says what is
   * wrong with it.
   */
  async read(text: string, line: number): Promise<void> {
    const read: unknown = JSON.parse(text)
    if (!isRecord(read)) throw new Error('not a JSON object')
    const { type, ...given } = read
    const named = { id: `line-${line}`, ...given }
    switch (type) {
      case 'fact':
        await this.#session.facts.remember(named as unknown as FactInput)
        return
      case 'message':
        await this.#session.append(named as unknown as MessageInput)
        return
      case 'skill':
        await this.#user.skills.set(given as unknown as Skill)
        return
      case 'profile':
        await this.#user.profile.set(given.name as string, given.text as string)
        return
      default:
        throw new Error('no "type" of fact, message, skill or profile')
    }
  }

  /** @throws ERR_BUDGET_TOO_SMALL, ERR_INVALID_ARGUMENT */
  start(options: StartOptions): Promise<SessionStart | undefined> {
    return start(this.#session, options)
  }
}

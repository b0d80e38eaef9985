import {
  SessionObject as Session,
  type SessionSettings,
  UserObject as User,
  type UserSettings,
} from '../src/edge/cloudflare.ts'
import { lexicalRecall } from '../src/index.ts'
import { englishStemmer } from '../src/stemmer.ts'
import type { Env } from './env.ts'

const DEFAULT_BUDGET = 16_000

function memoryOf({ BUDGET, SYSTEM }: Env): SessionSettings['memory'] {
  return {
    budget: Number(BUDGET ?? DEFAULT_BUDGET),
    ...(SYSTEM !== undefined && { system: SYSTEM }),
    recall: lexicalRecall({ stemmer: englishStemmer }),
  }
}

export class SessionObject extends Session<Env> {
  protected settings(): SessionSettings {
    return { memory: memoryOf(this.env) }
  }
}

export class UserObject extends User<Env> {
  protected settings(): UserSettings {
    return { memory: memoryOf(this.env) }
  }
}

/** Configurations whose lines are so near that a few dozen messages cross them many times. */
import type { CompactionJson, Configuration, CounterJson } from '../configuration.ts'
import type { JsonObject } from '../json.ts'
import type { Random } from './random.ts'
import { textOf } from './texts.ts'

/** Tokens that a character of English takes, about. */
export function tokensPerCharacter(counter: CounterJson): number {
  if (counter.type === 'utf8') return 1
  return counter.type === 'chars' ? 1 / counter.chars : 1 / 4
}

export function configurationOf(random: Random): Configuration {
  const counter = random.weighted<() => CounterJson>([
    [8, () => ({ type: 'chars', chars: random.pick([4, 4, 4, 3]) })],
    [2, () => ({ type: 'utf8' })],
    [3, () => ({ type: 'default' })],
    [4, () => ({ type: 'calibrated', of: random.pick(['chars', 'default'] as const) })],
  ])()
  const cap = Math.round(random.sized(450, 9_000) * tokensPerCharacter(counter))
  const reserved = random.chance(0.4) ? Math.round(cap / 10) : 0
  const share = (from: number, to: number): number =>
    Math.max(1, Math.round(cap * (from + random.next() * (to - from))))
  return {
    budget: random.chance(0.3)
      ? cap
      : {
          contextWindow: cap + reserved,
          maxOutputTokens: reserved,
          ...random.maybe(0.6, 'margin', () => random.pick([0, 0, 0.05, 0.2])),
        },
    counter,
    ...random.maybe(0.6, 'system', () => textOf(random, random.whole(1, 80))),
    ...random.maybe(0.35, 'window', () => windowOf(random, cap)),
    ...random.maybe(0.4, 'toolOutput', () => ({
      ...random.maybe(0.8, 'first', () => share(0.01, 0.4)),
      ...random.maybe(0.6, 'old', () => share(0, 0.1)),
    })),
    // By default documents have another share of the cap than in 0.1.0.
    sections: { profile: Math.floor(cap / 8), ...(random.chance(0.4) && sectionsOf(random, share)) },
    ...random.maybe(0.65, 'compaction', () => compactionOf(random, share)),
    ...random.maybe(0.45, 'extract', () =>
      random.pick(['rules', 'rules', 'rules', 'plain', 'plain', 'throws', 'hangs'] as const),
    ),
    ...random.maybe(0.6, 'recall', () => random.pick(['plain', 'stemmed', 'stemmed', 'vectors'] as const)),
    ...random.maybe(0.25, 'retention', () => ({
      ...random.maybe(0.7, 'log', () => ({ days: random.whole(1, 3) })),
      ...random.maybe(0.5, 'facts', () => ({ days: random.whole(1, 3) })),
      ...random.maybe(0.5, 'checkpoint', () => ({ days: random.whole(1, 3) })),
    })),
    ...random.maybe(0.25, 'facts', () => ({
      caps: {
        ...random.maybe(0.7, 'facts', () => random.whole(1, 5)),
        ...random.maybe(0.4, 'perHour', () => random.whole(2, 6)),
      },
    })),
    ...random.maybe(0.4, 'checkpoint', () => ({
      ...random.maybe(0.4, 'schema', () => true),
      ...random.maybe(0.5, 'default', () => ({ n: 0, note: 'new' })),
    })),
    ...random.maybe(0.6, 'onCut', () => (random.chance(0.12) ? 'throws' : 'told')),
    ...random.maybe(0.25, 'development', () => true),
  }
}

function windowOf(random: Random, cap: number): NonNullable<Configuration['window']> {
  const max = {
    ...random.maybe(0.5, 'rounds', () => random.whole(1, 8)),
    ...random.maybe(0.4, 'messages', () => random.whole(2, 24)),
    ...random.maybe(0.3, 'tokens', () => random.whole(Math.ceil(cap / 4), cap)),
  }
  const keep = Object.fromEntries(
    Object.entries(max)
      .filter(() => random.chance(0.5))
      .map(([unit, most]) => [unit, random.whole(1, most)]),
  )
  return {
    ...random.maybe(0.9, 'max', () => max),
    ...random.maybe(0.5, 'keep', () => keep),
  }
}

function sectionsOf(random: Random, share: (from: number, to: number) => number): JsonObject {
  const names = ['profile', 'pins', 'skills', 'loaded', 'facts', 'news', 'recall', 'checkpoint']
  return Object.fromEntries(
    names
      .filter((name) => random.chance(name === 'checkpoint' ? 0.8 : 0.35))
      .map((name) => [name, random.chance(0.15) ? 0 : share(0.01, 0.25)]),
  )
}

function compactionOf(random: Random, share: (from: number, to: number) => number): CompactionJson {
  return {
    model: random.chance(0.65),
    ...random.maybe(0.2, 'length', () => 'one sentence'),
    ...random.maybe(0.5, 'summaryTokens', () => share(0.02, 0.15)),
    ...random.maybe(0.4, 'carryTokens', () => share(0, 0.12)),
    ...random.maybe(0.15, 'sourceTokens', () => share(0.5, 2)),
    ...random.maybe(0.25, 'tokensPerHour', () => 200 + share(0.5, 4)),
    ...random.maybe(0.5, 'ahead', () => random.pick([false, false, 0.5, 0.7] as const)),
    ...random.maybe(0.35, 'pins', () =>
      random.chance(0.12)
        ? ('throws' as const)
        : [
            { kind: 'constraint', text: 'Never book a middle seat.' },
            { kind: 'blocker', text: `The card AB-1234 is blocked. ${textOf(random, random.whole(0, 40))}` },
          ].slice(0, random.whole(1, 2)),
    ),
  }
}

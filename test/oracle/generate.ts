/**
 * A history from a seed. Each seed has its own taste in scenes, so that some histories go deep
 * where others do not go at all.
 */
import type { Command, History } from './commands.ts'
import { AROUND } from './generate/around.ts'
import { CALLING } from './generate/calling.ts'
import { CHANGING } from './generate/changing.ts'
import { configurationOf } from './generate/configure.ts'
import { Course } from './generate/course.ts'
import { FACTS } from './generate/facts.ts'
import { FILES } from './generate/files.ts'
import { LOOKING } from './generate/looking.ts'
import { Random } from './generate/random.ts'
import { REMEMBERING } from './generate/remembering.ts'
import type { Scene } from './generate/scenes.ts'
import { TALKING } from './generate/talking.ts'

/** Commands of a history. */
const LEAST = 30
const MOST = 80

export function historyOf(seed: number): History {
  const random = new Random(Math.imul(seed, 2_654_435_761))
  const configurations = [configurationOf(random), ...(random.chance(0.3) ? [configurationOf(random)] : [])]
  const course = new Course(random, configurations)
  course.open({
    session: random.pick(['trip', 'trip', undefined]),
    project: random.chance(0.1) ? 'rail' : undefined,
  })
  const scenes = tasteOf(random)
  const length = random.whole(LEAST, MOST)
  for (let tries = 0; course.commands.length < length && tries < 4 * MOST; tries++)
    random.weighted(scenes)(course, course.anyTab())
  return { seed, configurations, commands: trimmed(course.commands, MOST) }
}

/** The scenes with weights of this history's own: of each group some, none or many. */
function tasteOf(random: Random): readonly (readonly [number, Scene])[] {
  const groups = [
    { scenes: [...TALKING, ...CALLING], weight: 1 },
    { scenes: LOOKING, weight: random.pick([0.3, 0.7, 1.2]) },
    { scenes: CHANGING, weight: random.pick([0, 0.4, 1, 2]) },
    { scenes: [...REMEMBERING, ...FACTS], weight: random.pick([0, 0.4, 1, 2.5]) },
    { scenes: [...AROUND, ...FILES], weight: random.pick([0.2, 0.7, 1.5]) },
  ]
  return groups.flatMap(({ scenes, weight }) =>
    scenes.map(([own, scene]) => [own * weight * random.pick([0.3, 1, 1, 2.5]), scene] as const),
  )
}

/** What arms the next command stands before one. */
function trimmed(commands: readonly Command[], most: number): readonly Command[] {
  const kept = commands.slice(0, most)
  while (['fail', 'race', 'model'].includes(kept.at(-1)?.kind ?? '')) kept.pop()
  return kept
}

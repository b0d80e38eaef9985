import { type CardInput, createEmptyCard, fsrs, Rating as Grade } from 'ts-fsrs'
import { describe, expect, it } from 'vitest'
import type { ReviewSchedule } from '../../../src/features/facts/review.ts'
import type { Json } from '../../../src/ports/message.ts'
import { bench, DAY, finding, NOON } from '../support/facts.ts'

const scheduler = fsrs({ enable_fuzz: false })
const GRADES = { again: Grade.Again, hard: Grade.Hard, good: Grade.Good, easy: Grade.Easy } as const

/** FSRS, its card kept with the fact. */
const bySpacing: ReviewSchedule = (fact, rating, now) => {
  const card =
    fact.review === undefined ? createEmptyCard(fact.createdAt) : (fact.review as unknown as CardInput)
  const next = scheduler.next(card, now, GRADES[rating]).card
  return { reviewAt: next.due.getTime(), review: JSON.parse(JSON.stringify(next)) as Json }
}

describe('a review schedule of the app', () => {
  it('can be FSRS, with its state in the fact', async () => {
    const { facts, clock } = bench({ schedule: bySpacing })
    await facts.remember(finding('The port is 8080.', { id: 'f' }))
    const days: number[] = []
    for (const rating of ['good', 'good', 'good', 'easy', 'again'] as const) {
      const { reviewAt, review } = await facts.review('f', rating)
      days.push((reviewAt - clock.now) / DAY)
      expect(review).toMatchObject({ reps: days.length })
      clock.now = reviewAt
    }
    const [first = 0, second = 0, third = 0, fourth = 0, last = 0] = days
    expect([first, second, third, fourth]).toEqual([...days.slice(0, 4)].sort((a, b) => a - b))
    expect(fourth).toBeGreaterThan(third + 1)
    expect(last).toBeLessThan(1)
    expect(clock.now).toBeGreaterThan(NOON)
  })

  it.each([[undefined], [null], [7], [Promise.resolve({ reviewAt: 0 })]])(
    'is refused with a code where it gives %j',
    async (given) => {
      const { facts } = bench({ schedule: () => given as never })
      await facts.remember(finding('The port is 8080.', { id: 'f' }))
      await expect(facts.review('f', 'good')).rejects.toMatchObject({
        code: 'ERR_INVALID_ARGUMENT',
        argument: 'schedule()',
      })
    },
  )
})

/** One thing that is timed. */
export interface Turn {
  readonly name: string
  /** Resolves with the milliseconds of what counts. */
  run(number: number): Promise<number>
}

/** Milliseconds of each call, by name. */
export type Times = Record<string, number[]>

/**
 * Calls all of them in turns, each time beginning with another one, so that nobody always comes
 * after the same.
 */
export async function takeTurns(turns: readonly Turn[], laps: number, warmUp = 0): Promise<Times> {
  const times: Times = Object.fromEntries(turns.map(({ name }) => [name, []]))
  for (let lap = 0; lap < warmUp + laps; lap++)
    for (let index = 0; index < turns.length; index++) {
      const turn = turns[(index + lap) % turns.length] as Turn
      const ms = await turn.run(lap)
      if (lap >= warmUp) times[turn.name]?.push(ms)
    }
  return times
}

/** How long it takes, in milliseconds. */
export async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now()
  await work()
  return performance.now() - start
}

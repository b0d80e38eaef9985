/** The one alarm of a Durable Object. */
export interface Alarms {
  /** Contract: when it is set for, Unix milliseconds; null: it is not. */
  get(): Promise<number | null>
  /**
   * Contract: sets it in place of the one that is set; called with what was written before, it is
   * durable together with that.
   */
  set(at: number): Promise<void>
  delete(): Promise<void>
  /** Contract: resolves when what was written is on disk. Default: nobody waits for it. */
  flush?(): Promise<void>
}

/** The alarm of a Durable Object. */
export function objectAlarms(storage: DurableObjectStorage): Alarms {
  return {
    get: () => storage.getAlarm(),
    set: (at) => storage.setAlarm(at),
    delete: () => storage.deleteAlarm(),
    flush: () => storage.sync(),
  }
}

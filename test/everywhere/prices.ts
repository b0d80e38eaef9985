/**
 * Cloudflare's prices of Workers Paid beyond what is included, in dollars a million, as their pages
 * had them on 2026-11-22: developers.cloudflare.com/durable-objects/platform/pricing and
 * …/workers/platform/pricing.
 */
export const PRICES = {
  workerRequest: 0.3,
  /** A millisecond of CPU time of a Worker. */
  workerCpuMs: 0.02,
  objectRequest: 0.15,
  rowWritten: 1,
  rowRead: 0.001,
  /** Of an object, while it works, or waits and cannot hibernate. */
  gigabyteSecond: 12.5,
} as const

/** Memory that an object is billed for, whatever it takes. */
const OBJECT_GB = 0.128
/** Frames of a socket to an object that are billed as one request; those from it cost nothing. */
const FRAMES_A_REQUEST = 20

/** What one call takes. */
export interface Taken {
  readonly rowsWritten: number
  readonly rowsRead: number
  /** Calls of objects, upgrades among them. */
  readonly objectRequests: number
  /** Frames that objects get. */
  readonly frames: number
  /** Seconds for which objects are billed. Default 0. */
  readonly objectSeconds?: number
  /** Of the Worker. Default 0. */
  readonly cpuMs?: number
}

/** Requests that a call is billed for. */
export function requestsOf({ objectRequests, frames }: Pick<Taken, 'objectRequests' | 'frames'>): number {
  return objectRequests + frames / FRAMES_A_REQUEST
}

/** Dollars for a million such calls, each a request to a Worker. */
export function dollarsOf(taken: Taken): number {
  const { rowsWritten, rowsRead, objectSeconds = 0, cpuMs = 0 } = taken
  return (
    PRICES.workerRequest +
    PRICES.objectRequest * requestsOf(taken) +
    PRICES.rowWritten * rowsWritten +
    PRICES.rowRead * rowsRead +
    PRICES.gigabyteSecond * OBJECT_GB * objectSeconds +
    PRICES.workerCpuMs * cpuMs
  )
}

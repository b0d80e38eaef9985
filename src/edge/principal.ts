/**
 * Who calls: what an authenticator makes of a request. Any well-formed strings of 1 to 256 bytes.
 */
export interface Principal {
  readonly tenant?: string
  readonly userId: string
  /** Somebody who has not signed in: a signed random id. */
  readonly isGuest?: true
  /** When the proof ends, Unix milliseconds: a socket is closed then. Default: never. */
  readonly expiresAt?: number
}

/**
 * Contract: says who calls, or `undefined` where the request proves nothing. It must not read the
 * body. What it throws is answered with its code where it is a `PlimsollError`, else with 500.
 */
export type Authenticate = (request: Request) => Promise<Principal | undefined>

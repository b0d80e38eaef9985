export { createApp } from './app/create-app.ts'
export type { AppSettings, GuestIssuer, LogLine, RateLimiter } from './app/settings.ts'
export type { Authenticate, Principal } from './principal.ts'

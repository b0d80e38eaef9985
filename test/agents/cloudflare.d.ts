/** Tells `env` of `cloudflare:test` what the worker under test binds. */
declare namespace Cloudflare {
  interface GlobalProps {
    mainModule: typeof import('./worker.ts')
  }
  interface Env extends AgentsEnv {}
}

type AgentsEnv = import('./worker.ts').Env

/** Tells `exports` of `cloudflare:workers` which worker is under test, and `env` what it binds. */
declare namespace Cloudflare {
  interface GlobalProps {
    mainModule: typeof import('../../worker/index.ts')
  }
  interface Env extends WorkerEnv {}
}

type WorkerEnv = import('../../worker/env.ts').Env

/** Files as text, as Vite gives them. */
declare module '*?raw' {
  const text: string
  export default text
}

/** Tells `exports` of `cloudflare:workers` which worker is under test. */
declare namespace Cloudflare {
  interface GlobalProps {
    mainModule: typeof import('../../worker/index.ts')
  }
}

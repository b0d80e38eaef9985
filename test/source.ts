import { resolve } from 'node:path'

/** Examples import the library by its name, as apps do. In tests that is the source, so nothing need be built before. */
export const source = {
  alias: [{ find: /^plimsoll$/, replacement: resolve(import.meta.dirname, '../src/index.ts') }],
}

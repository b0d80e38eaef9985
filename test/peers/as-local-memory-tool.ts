import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type MemoryHandlers, memoryHandlers } from '../../src/bridges/anthropic/index.ts'
import { createMemory } from '../../src/create-memory.ts'
import { profile } from '../../src/features/profile/feature.ts'
import { mapStore } from '../../src/stores/map.ts'

/**
 * The bridge where Anthropic's tests make their tool over a file system: they look at the files, so
 * its documents are mirrored there after each command.
 */
export const BetaLocalFilesystemMemoryTool = {
  async init(folder: string): Promise<MemoryHandlers> {
    const user = createMemory({ store: mapStore(), use: [profile()] }).user({ userId: 'ada' })
    const handlers = memoryHandlers(user)
    const mirrored = Object.entries(handlers).map(([name, run]) => [
      name,
      async (command: never) => {
        const answer = await run(command)
        rmSync(join(folder, 'memories'), { recursive: true, force: true })
        for (const document of await user.profile.list()) {
          const path = join(folder, document.name)
          mkdirSync(dirname(path), { recursive: true })
          writeFileSync(path, document.text)
        }
        return answer
      },
    ])
    mkdirSync(join(folder, 'memories'), { recursive: true })
    return Object.fromEntries(mirrored)
  },
}

import { existsSync } from 'node:fs'
import { join } from 'node:path'

/** A test of a peer's repository, and what stands in this folder for the modules that it tests. */
export interface PeerFile {
  readonly name: string
  readonly modules: Readonly<Record<string, string>>
  /** Cases about what only the peer's own class has, by what their names hold. */
  readonly skips?: readonly string[]
}

export const FILES: readonly PeerFile[] = [
  {
    name: 'langgraphjs/libs/checkpoint/src/tests/store.test.ts',
    modules: {
      '../store/base.js': '@langchain/langgraph-checkpoint',
      '../store/batch.js': '@langchain/langgraph-checkpoint',
      '../store/memory.js': './as-in-memory-store.ts',
    },
  },
  {
    name: 'openai-agents-js/packages/agents-core/test/memorySession.test.ts',
    modules: { '../src/memory/memorySession': './as-memory-session.ts' },
    skips: ['preserves item diagnostics'],
  },
  {
    name: 'anthropic-sdk-typescript/tests/lib/tools/BetaLocalFilesystemMemoryTool.test.ts',
    modules: { '../../../src/tools/memory/node': './as-local-memory-tool.ts' },
    skips: ['should error for files with too many lines', 'symlink', 'mode 0o'],
  },
]

export function missingFiles(folder: string | undefined): readonly PeerFile[] {
  return FILES.filter(({ name }) => folder === undefined || !existsSync(join(folder, name)))
}

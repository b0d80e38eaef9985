export { type MemoryFiles, type MemoryHandlers, memoryHandlers } from './memory-handlers.ts'

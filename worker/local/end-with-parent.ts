/** `node --import`: ends this process, and what it has started, with its parent. */
import { whenOrphaned } from './orphan.ts'

whenOrphaned(() => process.kill(process.pid, 'SIGTERM'))

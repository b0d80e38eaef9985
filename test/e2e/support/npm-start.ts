import { type Started, start } from '../../started.ts'

/** @param data folder of what it stores */
export function npmStart(port: number, data: string): Promise<Started> {
  const options = ['--port', String(port), '--data', data]
  return start('npm', ['start', '--', ...options], /Plimsoll is at (\S+)\//)
}

/** Whether anything runs that it started. */
export function isAlive({ pid }: Started): boolean {
  try {
    process.kill(-pid, 0)
    return true
  } catch {
    return false
  }
}

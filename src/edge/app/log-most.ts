import type { LogLine } from './settings.ts'

/** Writes failures, and what operators do, to the console, a line of JSON each. */
export function logMost(line: LogLine): void {
  if (line.status >= 500) console.error(JSON.stringify(line))
  else if (line.operator) console.log(JSON.stringify(line))
}

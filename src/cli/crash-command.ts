import { isPlimsollError } from '../ports/errors.ts'
import { visible } from '../replay/words.ts'
import { mapStore } from '../stores/map.ts'
import { type CrashOptions, UsageError } from './arguments.ts'
import { loadCounter } from './counters.ts'
import { type Crashed, type CrashSettings, crash } from './crash.ts'
import { readable } from './files.ts'
import type { Io } from './io.ts'
import { startProgress } from './progress.ts'
import { Malformed, recordingsIn } from './recordings.ts'

/**
 * Plays all conversations of the files as an agent that is killed and resumed. Resolves to the exit status: 1 if any of them is
 * not as if it had never been killed, or a line could not be read or played.
 */
export async function crashCommand(
  options: CrashOptions,
  io: Io,
  stores: CrashSettings['stores'] = mapStore,
): Promise<number> {
  const progress = startProgress(io, await readable(options.files, io))
  const counter = await loadCounter(options.counter, (message) => io.err(`plimsoll: ${message}\n`))
  const settings: CrashSettings = { ...options, counter, stores }
  const crashes: (Crashed & { readonly conversation: string })[] = []
  const malformed = new Malformed(io, progress)
  for await (const recording of recordingsIn(options.files, io, malformed.skip)) {
    const { conversation, offset } = recording
    const { id } = conversation
    if (id !== (options.conversation ?? id)) continue
    progress.show(offset, id)
    try {
      const crashed = { conversation: id, ...(await crash(conversation, settings)) }
      crashes.push(crashed)
      progress.clear()
      if (!options.json) io.out(crashText(crashed))
    } catch (error) {
      if (!isPlimsollError(error)) throw error
      malformed.skip(recording, error)
    }
  }
  progress.clear()
  if (options.conversation !== undefined && crashes.length + malformed.count === 0) {
    throw new UsageError(`no conversation "${options.conversation}" in ${options.files.join(', ')}`)
  }
  const differ = crashes.filter(({ differences }) => differences.length > 0).length
  const kills = crashes.reduce((sum, crashed) => sum + crashed.kills, 0)
  const { seed } = options
  io.out(
    options.json
      ? `${JSON.stringify({ seed, kills, differ, malformed: malformed.count, conversations: crashes })}\n`
      : `${crashes.length} conversations, ${kills} kills by seed ${seed}, ${differ} differ\n`,
  )
  return differ + malformed.count > 0 ? 1 : 0
}

function crashText(crashed: Crashed & { readonly conversation: string }): string {
  const { conversation, kills, resumed, settled, refused, differences } = crashed
  const runs = refused === 0 ? '' : `, ${refused} runs refused`
  const fate = differences.length === 0 ? 'same' : 'differs'
  const first = `${visible(conversation)}: ${kills} kills, ${resumed} runs resumed, ${settled} calls settled${runs}: ${fate}\n`
  return first + differences.map((difference) => `  ${visible(difference)}\n`).join('')
}

/** Makes a history shorter while something about it stays. */
import type { Command, History } from './commands.ts'
import type { Configuration } from './configuration.ts'
import type { MessageJson } from './shapes.ts'

/**
 * @param stays Contract: whether a shorter history still shows it. @param most how often that is
 *   asked at most.
 */
export async function shrunk(
  history: History,
  stays: (shorter: History) => Promise<boolean>,
  most = 600,
): Promise<History> {
  let best = history
  let left = most
  const tryOn = async (shorter: History): Promise<boolean> => {
    if (left-- <= 0 || !(await stays(shorter))) return false
    best = shorter
    return true
  }
  for (let before = -1; before !== sizeOf(best) && left > 0; ) {
    before = sizeOf(best)
    for (let size = Math.ceil(best.commands.length / 2); size >= 1; size = Math.floor(size / 2))
      for (let at = best.commands.length - size; at >= 0 && left > 0; ) {
        const commands = best.commands.filter((_, index) => index < at || index >= at + size)
        await tryOn({ ...best, commands })
        at = Math.min(at - size, best.commands.length - size)
      }
    for (const simpler of simplerOf(best.configurations)) await tryOn({ ...best, configurations: simpler })
    for (const [at, command] of best.commands.entries())
      for (const plainer of plainerOf(command))
        await tryOn({ ...best, commands: best.commands.with(at, plainer) })
  }
  return best
}

function sizeOf(history: History): number {
  return JSON.stringify(history).length
}

/** Configurations with one option less. */
function* simplerOf(configurations: readonly Configuration[]): Generator<readonly Configuration[]> {
  for (const [at, configuration] of configurations.entries())
    for (const name of Object.keys(configuration))
      if (name !== 'budget' && name !== 'counter') {
        const { [name as 'system']: _, ...rest } = configuration
        yield configurations.with(at, rest)
      }
}

/** The same command with one option less, or with less in a message. */
function* plainerOf(command: Command): Generator<Command> {
  for (const name of [
    'tail',
    'recall',
    'tools',
    'limits',
    'preview',
    'newEpoch',
    'opId',
    'facts',
    'checkpoint',
  ])
    if (name in command) {
      const { [name as 'kind']: _, ...rest } = command
      yield rest as Command
    }
  if (command.kind !== 'append') return
  for (const [at, message] of command.messages.entries())
    for (const content of shorterOf(message.content))
      yield { ...command, messages: command.messages.with(at, { ...message, content }) }
}

/** Half of a text; a list of parts without one of them. */
function* shorterOf(content: MessageJson['content']): Generator<MessageJson['content']> {
  if (typeof content === 'string') {
    if (content.length > 8) yield content.slice(0, content.length >> 1)
    return
  }
  for (const at of content.keys()) if (content.length > 1) yield content.toSpliced(at, 1)
}

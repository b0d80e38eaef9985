/** Frames of a stack that a log keeps. */
const MOST_FRAMES = 8
/** What a class is called, and not a text in place of that. */
const NAME = /^\w{1,40}$/

/** Where an error was thrown, without its message, which may hold anything. */
export function traceOf(error: Error): string {
  const { stack = '', message } = error
  // Its lines may look like frames.
  const frames = stack
    .slice(stack.indexOf(message) + message.length)
    .split('\n')
    .filter((line) => /^\s+at /.test(line))
  const name = NAME.test(error.name) ? error.name : 'Error'
  return [name, ...frames.slice(0, MOST_FRAMES)].join('\n')
}

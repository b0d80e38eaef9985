import type { Program } from './program.ts'

/** The program without the commands that it fails without, the longest stretches first. */
export async function shrunk(
  program: Program,
  fails: (program: Program) => Promise<boolean>,
): Promise<Program> {
  let { commands } = program
  for (let length = Math.ceil(commands.length / 2); length >= 1; length = Math.floor(length / 2))
    for (let at = 0; at < commands.length; ) {
      const rest = [...commands.slice(0, at), ...commands.slice(at + length)]
      if (await fails({ ...program, commands: rest })) commands = rest
      else at += length
    }
  return { ...program, commands }
}

import { PlimsollError } from '../../ports/errors.ts'

export const loadAdded = () => import('./added.ts')

/** What is loaded when it is needed. @throws ERR_NOT_LOADED: it cannot be */
export async function loaded<Part>(load: () => Promise<Part>): Promise<Part> {
  return load().catch((cause: unknown) => {
    throw new PlimsollError('ERR_NOT_LOADED', 'chat: a part of it could not be loaded', { cause })
  })
}

import { PlimsollError } from '../src/index.ts'

/** @throws ERR_NOT_CONFIGURED: it is neither on nor off */
export function isOn(name: string, value: string | undefined): boolean {
  if (!value || value === 'off') return false
  if (value === 'on') return true
  throw new PlimsollError('ERR_NOT_CONFIGURED', `settings: ${name} must be on or off`)
}

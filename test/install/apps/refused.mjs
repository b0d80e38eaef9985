import assert from 'node:assert/strict'

/** That something is refused in this one line. */
export async function refused(message, use) {
  await assert.rejects(async () => use(), { name: 'PlimsollError', code: 'ERR_NOT_CONFIGURED', message })
}

/** The page of `test/e2e/raw-files.test.ts`. */

import type { Store } from '../../src/ports/store.ts'
import { dexieStore } from '../../src/stores/dexie.ts'
import {
  destroyKeptKeys,
  encryptedStore,
  keptKeys,
  passphraseKeys,
} from '../../src/stores/encrypted/index.ts'
import { type Canaries, eraseCanaries, writeCanaries } from '../everywhere/canaries.ts'

const keysOf = (name: string) => ({ name: `${name}-keys` })

/** @param passphrase undefined: in the clear; empty: under a key that the browser keeps */
async function open(name: string, passphrase?: string): Promise<Store> {
  const inner = dexieStore({ name })
  if (passphrase === undefined) return inner
  return encryptedStore(inner, passphrase ? passphraseKeys(passphrase) : await keptKeys(keysOf(name)))
}

async function write(name: string, canaries: Canaries, passphrase?: string): Promise<string> {
  return writeCanaries(await open(name, passphrase), canaries)
}

async function erase(name: string, passphrase?: string): Promise<void> {
  await eraseCanaries(await open(name, passphrase))
}

function destroy(name: string): Promise<void> {
  return destroyKeptKeys(keysOf(name))
}

/** The session's first data key as it is stored. */
async function wrappedKey(name: string): Promise<unknown> {
  const scope = dexieStore({ name }).open({ userId: 'ada', sessionId: 'trip' })
  const [first] = JSON.parse((await scope.register('encryption/keys'))?.body ?? '[]')
  return first
}

Object.assign(globalThis, { write, erase, destroy, wrappedKey })

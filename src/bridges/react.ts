'use client'

import * as React from 'react'
import { useCallback, useEffect, useMemo, useState } from 'react'
import type { Memory, NoFeatures, Session, SessionBase } from '../ports/memory.ts'
import type { Scope } from '../ports/op.ts'
import { needPeer } from '../ports/peer.ts'
import type { SnapshotSource } from '../ports/snapshot.ts'
import { type Conversation, conversationOf } from './conversation.ts'
import { NO_PREVIEW, type Preview, type PreviewOptions, previewOf } from './preview.ts'

export type { SnapshotSource } from '../ports/snapshot.ts'
export type { Conversation } from './conversation.ts'
export type { Preview, PreviewOptions } from './preview.ts'

/**
 * What a source shows, and the component again when that changes. On a server: what it shows before
 * anything was read.
 */
export function useSnapshot<Shown>(source: SnapshotSource<Shown>): Shown {
  needPeer('plimsoll/react', '`react` 18', React.useSyncExternalStore, React.version)
  const subscribe = useCallback((listener: () => void) => source.subscribe(listener), [source])
  const getSnapshot = useCallback(() => source.getSnapshot(), [source])
  return React.useSyncExternalStore(subscribe, getSnapshot, getSnapshot)
}

/** A session with its conversation. */
export type ShownSession<F extends object = NoFeatures> = Conversation & {
  readonly session: Session<F>
  /** Shows 50 older messages. */
  readonly showOlder: () => Promise<void>
}

/**
 * One conversation and its newest messages, no matter who writes: this component, another one,
 * another tab. It is the same session as long as memory and scope name the same; nothing is to be
 * closed. What a model sees of it, the window, is `useSnapshot(session).messages`.
 *
 * @example
 * ```tsx
 * import type { Memory } from 'plimsoll'
 * import { useSession } from 'plimsoll/react'
 *
 * function Messages({ memory }: { memory: Memory }) {
 *   const { session, messages, loaded } = useSession(memory, { userId: 'ada', sessionId: 'trip' })
 *   if (!loaded) return <p>Loading …</p>
 *   return messages.map(({ id, content }) => <p key={id}>{typeof content === 'string' ? content : null}</p>)
 * }
 * ```
 */
export function useSession<F extends object>(memory: Memory<F>, scope: Scope): ShownSession<F> {
  const named = JSON.stringify(scope)
  const session = useMemo(() => memory.session(JSON.parse(named) as Scope), [memory, named])
  const source = useMemo(() => conversationOf(session), [session])
  const conversation = useSnapshot(source)
  const { showOlder } = source
  return useMemo(() => ({ session, ...conversation, showOlder }), [session, conversation, showOlder])
}

/**
 * The context of a call made now, built again after each change of the session; a preview writes
 * nothing.
 *
 * @param options read when the preview is built: to have it built again for others, keep them
 * outside of the component, or in `useMemo`
 */
export function usePreview<F extends object>(session: SessionBase<F>, options?: PreviewOptions<F>): Preview {
  const snapshot = useSnapshot(session)
  const [preview, setPreview] = useState(NO_PREVIEW)
  // What changed the snapshot changed the context.
  useEffect(() => {
    let isCurrent = true
    void previewOf(session, options).then((next) => {
      if (isCurrent) setPreview(next)
    })
    return () => {
      isCurrent = false
    }
  }, [session, snapshot, options])
  return preview
}

import * as Vue from 'vue'
import { computed, type MaybeRefOrGetter, type ShallowRef, shallowReadonly, shallowRef, watch } from 'vue'
import type { Memory, NoFeatures, Session, SessionBase } from '../ports/memory.ts'
import type { Scope } from '../ports/op.ts'
import { isSince, needPeer } from '../ports/peer.ts'
import type { SnapshotSource } from '../ports/snapshot.ts'
import { type Conversation, conversationOf } from './conversation.ts'
import { NO_PREVIEW, type Preview, type PreviewOptions, previewOf } from './preview.ts'

export type { SnapshotSource } from '../ports/snapshot.ts'
export type { Conversation } from './conversation.ts'
export type { Preview, PreviewOptions } from './preview.ts'

/** Not imported by its name: versions before 3.3 lack it, and would fail without a clear error. */
const toValue = Vue.toValue

/** What a source shows, kept up to date until the component, or effect scope, ends. */
export function useSnapshot<Shown>(
  source: MaybeRefOrGetter<SnapshotSource<Shown>>,
): Readonly<ShallowRef<Shown>> {
  needPeer('plimsoll/vue', '`vue` 3.4', isSince(Vue.version, 3, 4), Vue.version)
  const shown = shallowRef(toValue(source).getSnapshot())
  watch(
    () => toValue(source),
    (current, _before, onCleanup) => {
      const show = (): void => {
        shown.value = current.getSnapshot()
      }
      onCleanup(current.subscribe(show))
      show()
    },
    { immediate: true },
  )
  return shallowReadonly(shown)
}

/** A session, and its conversation. */
export interface ShownSession<F extends object = NoFeatures> {
  readonly session: Readonly<ShallowRef<Session<F>>>
  readonly conversation: Readonly<ShallowRef<Conversation>>
  /** Shows 50 older messages. */
  readonly showOlder: () => Promise<void>
}

/**
 * One conversation and its newest messages, no matter who writes: this component, another one,
 * another tab. With a ref or a getter for a scope it follows that; nothing is to be closed. What a
 * model sees of it, the window, is `useSnapshot(session)`.
 *
 * @example
 * ```ts
 * import { useSession } from 'plimsoll/vue'
 *
 * // In the `setup` of a component; its template reads `conversation.messages`.
 * const setup = (props: { readonly trip: string }) =>
 *   useSession(memory, () => ({ userId: 'ada', sessionId: props.trip }))
 * ```
 */
export function useSession<F extends object>(
  memory: Memory<F>,
  scope: MaybeRefOrGetter<Scope>,
): ShownSession<F> {
  const named = computed(() => JSON.stringify(toValue(scope)))
  const session = computed(() => memory.session(JSON.parse(named.value) as Scope))
  const source = computed(() => conversationOf(session.value))
  return { session, conversation: useSnapshot(source), showOlder: () => source.value.showOlder() }
}

/**
 * The context of a call made now, built again after each change of the session and of the options;
 * a preview writes nothing.
 */
export function usePreview<F extends object>(
  session: MaybeRefOrGetter<SessionBase<F>>,
  options?: MaybeRefOrGetter<PreviewOptions<F> | undefined>,
): Readonly<ShallowRef<Preview>> {
  const preview = shallowRef(NO_PREVIEW)
  const snapshot = useSnapshot(session)
  watch(
    () => [toValue(session), toValue(options), snapshot.value] as const,
    ([current, options], _before, onCleanup) => {
      let isCurrent = true
      onCleanup(() => {
        isCurrent = false
      })
      void previewOf(current, options).then((next) => {
        if (isCurrent) preview.value = next
      })
    },
    { immediate: true },
  )
  return shallowReadonly(preview)
}

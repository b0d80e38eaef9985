/**
 * The thread as its guide on long threads has it: rows of @tanstack/react-virtual, a turn each,
 * held at the end by the page.
 */
import { ThreadPrimitive, unstable_useThreadMessageIds, useAuiState } from '@assistant-ui/react'
import { useVirtualizer } from '@tanstack/react-virtual'
import { useEffect, useLayoutEffect, useMemo, useRef } from 'react'
import { Composer, MESSAGE_COMPONENTS, show } from '../assistant-ui-parts.tsx'

const ESTIMATED_TURN_PX = 200
const OVERSCAN = 4
const AT_END_PX = 4

function VirtualThread() {
  const ids = unstable_useThreadMessageIds()
  const roles = useAuiState(({ thread }) => thread.messages.map(({ role }) => role).join(' '))
  const turns = useMemo(() => turnsOf(ids, roles.split(' ')), [ids, roles])
  const scroller = useRef<HTMLDivElement>(null)
  const content = useRef<HTMLDivElement>(null)
  const isAtEnd = useRef(true)

  const virtualizer = useVirtualizer({
    count: turns.length,
    estimateSize: () => ESTIMATED_TURN_PX,
    getItemKey: (index) => turns[index]?.[0] ?? index,
    getScrollElement: () => scroller.current,
    overscan: OVERSCAN,
  })

  useLayoutEffect(() => {
    if (turns.length > 0) virtualizer.scrollToIndex(turns.length - 1, { align: 'end' })
  }, [turns.length, virtualizer])

  // While the reader is at the end, rows that turn out higher than estimated must not push the end
  // away.
  useEffect(() => {
    const { current: element } = scroller
    if (!element || !content.current) return
    const toEnd = new ResizeObserver(() => {
      if (isAtEnd.current) element.scrollTop = element.scrollHeight
    })
    const leave = ({ deltaY }: WheelEvent): void => {
      if (deltaY < 0) isAtEnd.current = false
    }
    const arrive = (): void => {
      if (element.scrollHeight - element.scrollTop - element.clientHeight <= AT_END_PX) isAtEnd.current = true
    }
    toEnd.observe(content.current)
    element.addEventListener('wheel', leave, { passive: true })
    element.addEventListener('scroll', arrive, { passive: true })
    return () => {
      toEnd.disconnect()
      element.removeEventListener('wheel', leave)
      element.removeEventListener('scroll', arrive)
    }
  }, [])

  const rows = virtualizer.getVirtualItems()
  const before = rows[0]?.start ?? 0
  const after = virtualizer.getTotalSize() - (rows.at(-1)?.end ?? 0)
  return (
    <ThreadPrimitive.Root className="thread">
      <div className="viewport" ref={scroller}>
        <div className="messages" ref={content}>
          <div style={{ paddingTop: before, paddingBottom: after }}>
            {rows.map(({ key, index }) => (
              <div key={key} data-index={index} ref={virtualizer.measureElement}>
                {turns[index]?.map((id) => (
                  <ThreadPrimitive.Unstable_MessageById
                    key={id}
                    messageId={id}
                    components={MESSAGE_COMPONENTS}
                  />
                ))}
              </div>
            ))}
          </div>
        </div>
      </div>
      <Composer />
    </ThreadPrimitive.Root>
  )
}

/** A user's message and what follows it until the next one. */
function turnsOf(ids: readonly string[], roles: readonly string[]): string[][] {
  const turns: string[][] = []
  for (const [index, id] of ids.entries()) {
    const last = turns.at(-1)
    if (last && roles[index] !== 'user') last.push(id)
    else turns.push([id])
  }
  return turns
}

show(<VirtualThread />)

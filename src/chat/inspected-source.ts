import { clientSource, type InspectorSource, sessionSource } from '../inspector/model/source.ts'
import type { Inspected } from './ports.ts'

/** What an inspector shows of a chat's conversation. */
export function inspectedSource({ title, ...inspected }: Inspected): InspectorSource {
  const name = title === '' ? {} : { name: title }
  return inspected.home === 'local'
    ? sessionSource(inspected.session, { tools: inspected.tools, ...name })
    : clientSource(inspected.session, name)
}

/**
 * `plimsoll/inspector`: what model calls were given, against the line. Importing it registers
 * nothing: see `plimsoll/inspector/define`.
 */
export type { OpenedFile } from './model/opened-file.ts'
export {
  clientSource,
  type InspectedClient,
  type InspectorSource,
  type SourceCall,
  type SourceContext,
  type SourceOptions,
  sessionSource,
} from './model/source.ts'
export { english } from './strings/en.ts'
export { loadStrings } from './strings/load.ts'
export type { Strings } from './strings/strings.ts'
export { PlimsollInspector } from './view/inspector-element.ts'

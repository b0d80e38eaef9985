/**
 * Puts text between a pair of tags that the text itself cannot close: wherever it holds the tag, the tag is broken up.
 * `tag` is derived from session, lane and epoch, so it is the same on every call of an epoch.
 */
export function fenced(tag: string, label: string, text: string): string {
  const escaped = text.replaceAll(tag, tag.replace('-', '_'))
  return `<${tag} ${label}>\n${escaped}\n</${tag}>`
}

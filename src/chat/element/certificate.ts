import { html, nothing, type TemplateResult } from 'lit/html.js'
import type { RemovedKind } from '../../ports/certificate.ts'
import type { HomeCertificate, HomeKind } from '../ports.ts'
import type { PluralKey } from '../strings/panels/catalogue.ts'
import { icon } from './icons.ts'
import type { PanelScene } from './scene.ts'

/** What a person counts. Heads, which hold copies of it, nobody has seen. */
const REMOVED = {
  sessions: 'removedSessions',
  messages: 'removedMessages',
  summaries: 'removedSummaries',
  facts: 'removedFacts',
  attachments: 'removedAttachments',
} as const satisfies Partial<Record<RemovedKind, PluralKey>>

/** What a conversation is made of goes with it: much of that never showed. */
const OF_SESSIONS: readonly RemovedKind[] = ['messages', 'summaries']

/**
 * Follows what a certificate says, until the service has done what it did not know of.
 *
 * @param show contract: told what it says then
 */
export async function followArrival(
  certificate: HomeCertificate,
  show: (certificate: HomeCertificate) => void,
): Promise<void> {
  if (!(await certificate.arrival)) return
  const { arrival: _, confirmed, pending, ...rest } = certificate
  const left = pending.filter((holder) => holder !== 'store')
  show({ ...rest, confirmed: ['store', ...confirmed], pending: left })
}

/**
 * What was removed, where it is known to be gone, and who may have it still.
 *
 * @param homes in which it was
 * @param steps of a reply, which showed nothing; they are not among the messages of the certificate
 */
export function certificateView(
  { words, settings }: PanelScene,
  { action, at, already, removed, confirmed, pending, arrival }: HomeCertificate,
  homes: readonly HomeKind[],
  steps = 0,
): TemplateResult {
  const list = new Intl.ListFormat(words.language)
  const isAtService = homes.includes('edge')
  const isHere = !isAtService || homes.includes('local') || settings.isSynced
  const kinds = (Object.keys(REMOVED) as (keyof typeof REMOVED)[]).filter(
    (kind) => removed[kind].count > 0 && !(removed.sessions.count > 0 && OF_SESSIONS.includes(kind)),
  )
  const counts = kinds.map((kind) => words.counted(REMOVED[kind], removed[kind].count))
  if (steps > 0) counts.push(words.counted('removedSteps', steps))
  // With everything, all other conversations went.
  const hasOthers = isAtService && action === 'forget'
  const gone = [
    // What the service has not heard of yet is gone here.
    ...((arrival || confirmed.includes('store')) && isHere ? [words.text('goneDevice')] : []),
    ...(confirmed.includes('store') && isAtService ? [words.text('goneService')] : []),
    ...(confirmed.includes('replicas') && hasOthers ? [words.text('goneCopies')] : []),
  ]
  const left = [
    ...(pending.includes('store') ? [words.text(isAtService ? 'leftService' : 'leftDevice')] : []),
    ...(pending.includes('replicas') && hasOthers ? [words.text('leftCopies')] : []),
    ...(pending.includes('devices') ? [words.text('leftElsewhere')] : []),
    ...(pending.includes('recovery') && isAtService ? [words.text('leftBackups')] : []),
    ...(pending.includes('recovery') && isHere ? [words.text('leftFiles')] : []),
  ]
  return html`<section class="certificate" role="status" tabindex="-1">
    <h3>${icon('check')}${words.text(action === 'erase' ? 'certificateErase' : 'certificateForget', { date: words.date(at) })}</h3>
    ${already ? html`<p>${words.text('certificateAlready')}</p>` : nothing}
    ${counts.length ? html`<p>${list.format(counts)}</p>` : nothing}
    ${gone.length ? html`<p class="muted">${words.text('certificateGone', { places: list.format(gone) })}</p>` : nothing}
    ${left.length ? html`<p class="muted">${words.text('certificateLeft')}</p><ul class="muted">${left.map((one) => html`<li>${one}</li>`)}</ul>` : nothing}
  </section>`
}

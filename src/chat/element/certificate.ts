import { html, nothing, type TemplateResult } from 'lit/html.js'
import type { Certificate, Holder, RemovedKind } from '../../ports/certificate.ts'
import type { PanelTextKey, PluralKey } from '../strings/panels/catalogue.ts'
import type { PanelWords } from '../strings/panels/words.ts'
import { icon } from './icons.ts'

const REMOVED: Readonly<Record<RemovedKind, PluralKey>> = {
  sessions: 'removedSessions',
  messages: 'removedMessages',
  summaries: 'removedSummaries',
  facts: 'removedFacts',
  heads: 'removedHeads',
  attachments: 'removedAttachments',
}

const HOLDERS: Readonly<Record<Holder, PanelTextKey>> = {
  store: 'holderStore',
  replicas: 'holderReplicas',
  devices: 'holderDevices',
  recovery: 'holderRecovery',
}

/** What was removed, who is known to hold it no more, and who may. */
export function certificateView(words: PanelWords, certificate: Certificate): TemplateResult {
  const { action, at, already, removed, confirmed, pending } = certificate
  const list = new Intl.ListFormat(words.language)
  const kinds = (Object.keys(REMOVED) as RemovedKind[]).filter((kind) => removed[kind].count > 0)
  const holders = (of: readonly Holder[]) => list.format(of.map((holder) => words.text(HOLDERS[holder])))
  return html`<section class="certificate" role="status">
    <h3>${icon('check')}${words.text(action === 'erase' ? 'certificateErase' : 'certificateForget', { date: words.date(at) })}</h3>
    ${already ? html`<p>${words.text('certificateAlready')}</p>` : nothing}
    ${kinds.length ? html`<p>${list.format(kinds.map((kind) => words.counted(REMOVED[kind], removed[kind].count)))}</p>` : nothing}
    ${confirmed.length ? html`<p class="muted">${words.text('certificateConfirmed', { holders: holders(confirmed) })}</p>` : nothing}
    ${pending.length ? html`<p class="muted">${words.text('certificatePending', { holders: holders(pending) })}</p>` : nothing}
  </section>`
}

/** What a page may be refused for, sent to the page that frames it. */
import '../../src/inspector/define.ts'
import { sampleLog } from '../../src/inspector/model/sample.ts'

const violations: string[] = []
document.addEventListener('securitypolicyviolation', ({ effectiveDirective, blockedURI, sample }) =>
  violations.push(`${effectiveDirective} ${blockedURI} ${sample}`),
)
const inspector = document.createElement('plimsoll-inspector')
document.body.append(inspector)
await inspector.open(new File([sampleLog()], 'sample'))
for (const tab of ['left', 'diff', 'request']) {
  inspector.shadowRoot?.querySelector<HTMLElement>(`#tab-${tab}`)?.click()
  await inspector.updateComplete
}
const stretches = inspector.shadowRoot?.querySelectorAll('.stretch').length
parent.postMessage({ violations, stretches }, location.origin)

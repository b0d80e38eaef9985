import { html, nothing, type TemplateResult } from 'lit/html.js'
import { PlimsollError } from '../../ports/errors.ts'
import type { HomeKind, MemoryPanelModel } from '../ports.ts'
import { homeName } from './home.ts'
import { icon } from './icons.ts'
import type { MemoryActions, MemoryState } from './memory-panel.ts'
import { saveFile } from './save-file.ts'
import type { PanelScene } from './scene.ts'

/** The first line of an export is shorter. */
const MOST_HEADER_BYTES = 4_096

/** Taking everything along, bringing it back, and removing it. */
export function dataTab(scene: PanelScene, state: MemoryState, actions: MemoryActions): TemplateResult {
  const { words } = scene
  // Only the service has all.
  const isCutOff = (home: HomeKind): boolean => home === 'edge' && !scene.state.online
  const isSaid = (state.problem ?? state.unread)?.code === 'ERR_OFFLINE'
  const { imported, mayErase, isBusy, homes, destinations } = state
  const word = words.text('eraseWord')
  // A button that is disabled while it works would lose the focus.
  const change: MemoryActions['change'] = (task, then, at) => {
    if (!isBusy) actions.change(task, then, at)
  }
  // Where there is but one home, nobody needs to be told which.
  const named = (verb: 'import' | 'export', home: HomeKind): string =>
    words.text(destinations.length === 1 ? `${verb}Button` : `${verb}${home === 'edge' ? 'Edge' : 'Local'}`)
  return html`${homes.map((home) => keeping(scene, home))}${
    destinations.some(isCutOff) && !isSaid
      ? html`<div class="notice">${icon('offline')}<p>${words.text('problemOffline')}</p></div>`
      : nothing
  }
    <section class="card">
      <h3>${words.text('exportTitle')}</h3>
      <p class="muted">${words.text('exportText')}</p>
      ${homes.map(
        (home) =>
          html`<div class="row"><button class="outlined" type="button" aria-disabled=${isBusy} ?disabled=${isCutOff(home)} @click=${() => change((memory) => save(memory, home))}>${named('export', home)}</button></div>`,
      )}
    </section>
    <section class="card">
      <h3>${words.text('importTitle')}</h3>
      <p class="muted">${words.text('importText')}</p>
      ${
        imported
          ? html`<p role="status">${[
              words.counted('importedMessages', imported.messages),
              words.counted('importedFacts', imported.facts),
              ...(imported.refused ? [words.text('importRefused')] : []),
              ...(imported.refused && imported.isElsewhere ? [words.text('importHere')] : []),
            ].join(' ')}</p>`
          : nothing
      }
      ${destinations.map(
        (home) => html`<div class="row">
        <button class="outlined" type="button" aria-disabled=${isBusy} ?disabled=${isCutOff(home)} @click=${({
          currentTarget,
        }: Event) => {
          const input = (currentTarget as HTMLElement).nextElementSibling
          if (input instanceof HTMLInputElement && !isBusy) input.click()
        }}>${named('import', home)}</button>
        <input type="file" hidden accept=".jsonl,.ndjson,application/jsonl" @change=${({
          currentTarget,
        }: Event) => {
          const input = currentTarget as HTMLInputElement
          const file = input.files?.[0]
          if (file)
            actions.change(
              (memory) => memory.import(chunksOf(file), home),
              (count) => ({
                imported: { ...count, isElsewhere: home === 'edge' && destinations.includes('local') },
              }),
            )
          // The same file may be chosen again.
          input.value = ''
        }} />
      </div>`,
      )}
    </section>
    <form class="card" @submit=${(event: SubmitEvent) => {
      event.preventDefault()
      if (!mayErase) return
      const form = event.currentTarget as HTMLFormElement
      change(
        (memory) => memory.eraseAll(),
        (certificate) => {
          form.reset()
          return { certificate, mayErase: false }
        },
        // It is above, out of sight.
        () => '.memory .certificate',
      )
    }}>
      <h3>${words.text('eraseTitle')}${homes.length > 1 ? `: ${homes.map((home) => homeName(words, home)).join(words.text('comma'))}` : nothing}</h3>
      <p class="muted">${words.text('eraseText')}</p>
      <label>${words.text('eraseType', { word })}
        <input class="field" name="confirm" autocomplete="off" autocapitalize="off" spellcheck="false"
          @input=${({ currentTarget }: Event) =>
            actions.update({
              mayErase: (currentTarget as HTMLInputElement).value.trim().toLocaleLowerCase() === word,
            })} />
      </label>
      <div class="row"><button class="danger" aria-disabled=${isBusy} ?disabled=${!mayErase || homes.some(isCutOff)}>${words.text('eraseTitle')}</button></div>
    </form>`
}

/** Who can read what is in a home, and until when it is kept. */
function keeping({ words, settings, chat }: PanelScene, home: HomeKind): TemplateResult {
  const end = chat.guestEnd()
  const edge = [
    words.text('readEdge'),
    settings.isSynced ? words.text('alsoHere') : '',
    end ? words.text('guestEnd', { date: words.date(end) }) : words.text('keptEdge'),
  ]
  const told = home === 'edge' ? edge : [words.text('readLocal'), words.text('keptLocal')]
  return html`<section class="card home-data">
    <h3>${homeName(words, home)}</h3>
    <p class="muted">${told.filter(Boolean).join(' ')}</p>
  </section>`
}

async function save(memory: MemoryPanelModel, home: HomeKind): Promise<void> {
  const parts: string[] = []
  for await (const line of memory.export(home)) parts.push(line.endsWith('\n') ? line : `${line}\n`)
  const name = `plimsoll-${home === 'edge' ? 'service' : 'device'}-${new Date().toISOString().slice(0, 10)}.jsonl`
  saveFile(name, new Blob(parts, { type: 'application/jsonl' }))
}

/**
 * A file's text as it is read.
 *
 * @throws ERR_UNSUPPORTED_MEDIA_TYPE before anything of it is given: it does not begin as an export
 */
async function* chunksOf(file: File): AsyncIterable<string> {
  if (!isExport((await file.slice(0, MOST_HEADER_BYTES).text()).trimStart()))
    throw new PlimsollError('ERR_UNSUPPORTED_MEDIA_TYPE', `import: ${file.name} is no export`)
  const reader = file.stream().pipeThrough(new TextDecoderStream()).getReader()
  for (let read = await reader.read(); !read.done; read = await reader.read()) yield read.value
}

function isExport(text: string): boolean {
  try {
    return JSON.parse(text.split('\n', 1)[0] ?? '').type === 'export'
  } catch {
    return false
  }
}

import { repeat } from 'lit/directives/repeat.js'
import { html, nothing, type TemplateResult } from 'lit/html.js'
import type { HomeCertificate, HomeKind, SessionEntry } from '../ports.ts'
import { confirmation } from './confirm.ts'
import { homeIcon, homeName } from './home.ts'
import { icon } from './icons.ts'
import { iconButton } from './message.ts'
import { searchIcon } from './panel-icons.ts'
import { problemOf, wordsFor } from './problems.ts'
import type { FoundSession, Scene } from './scene.ts'

export { seek } from './seek.ts'

/** Milliseconds without a key after which it is searched. */
const SEARCH_MS = 200
/** UTF-16 units, as the list of sessions takes them. */
const LONGEST_TITLE = 200

/** All conversations, to be searched, renamed and deleted. */
export function sessionList(): (scene: Scene) => TemplateResult {
  let now: Scene
  /** What was deleted here, until the service has done it. */
  let deleted: ListParts['deleted'] = []
  let timer: ReturnType<typeof setTimeout> | undefined
  /** Why a title was not kept, while it stands in its field. */
  let unnamed: { readonly key: string | undefined; readonly why: string } | undefined
  let listed: Scene['sessions']['sessions'] | undefined
  let count = 0
  const search = (query: string): void => {
    const change = { query, ...(query.trim() ? {} : { found: undefined }) }
    now.update(change)
    // It may be answered before it is drawn.
    now = { ...now, ui: { ...now.ui, ...change } }
    clearTimeout(timer)
    if (!query.trim()) return
    timer = setTimeout(() => {
      const answered = now.chat.sessions.search(query.trim())
      now.attempt(answered.then((found) => now.ui.query === query && now.update({ found })))
    }, SEARCH_MS)
  }
  return (scene) => {
    now = scene
    const { sessions } = scene.sessions
    const { length } = scene.state.messages
    // Of what was found, another tab may have deleted or named something, and some is forgotten.
    if (scene.ui.found && (sessions !== listed || length < count)) search(scene.ui.query)
    listed = sessions
    count = length
    if (unnamed?.key !== scene.ui.renaming) unnamed = undefined
    return listView(scene, {
      search,
      deleted,
      unnamed: unnamed?.why,
      onUnnamed: (why) => {
        unnamed = { key: now.ui.renaming, why }
        now.update({})
      },
      onDeleted: (title, { arrival }) => {
        const say = () => now.act.say(now.words.text('removed', { title }))
        if (!arrival) return say()
        const one = { title }
        deleted = [...deleted, one]
        now.update({})
        void arrival.then((isDone) => {
          if (isDone) say()
          deleted = deleted.filter((each) => each !== one)
          now.update({})
        })
      },
    })
  }
}

interface ListParts {
  readonly search: (query: string) => void
  readonly deleted: readonly { readonly title: string }[]
  readonly unnamed: string | undefined
  readonly onUnnamed: (why: string) => void
  readonly onDeleted: (title: string, certificate: HomeCertificate) => void
}

function listView(scene: Scene, parts: ListParts): TemplateResult {
  const { words, sessions, ui, act } = scene
  const shown = ui.query.trim() ? ui.found : sessions.sessions
  return html`<aside class="side sessions ${ui.side === 'sessions' ? 'shown' : ''}" part="sessions" aria-label=${words.text('sessions')}>
    <header class="head">
      <span class="leave">${iconButton(words.text('back'), 'back', () => act.show(undefined))}</span>
      <div class="titles"><h2>${words.text('sessions')}</h2></div>
      <div class="buttons">${iconButton(words.text('newSession'), 'compose', () => act.newSession())}</div>
    </header>
    <div class="body">
      <div class="search">
        ${searchIcon}
        <input class="field" type="search" dir="auto" aria-label=${words.text('searchSessions')} placeholder=${words.text('searchSessions')}
          @input=${({ currentTarget }: Event) => parts.search((currentTarget as HTMLInputElement).value)} />
      </div>
      <div role="status">${parts.deleted.map(
        ({ title }) =>
          html`<p class="state">${icon('offline')}${words.text('removeOf', { title })}: ${words.text('queued')}</p>`,
      )}</div>
      ${
        shown?.length
          ? html`<ul>${repeat(
              shown,
              keyOf,
              (session) => html`<li>${entryView(scene, session, parts)}</li>`,
            )}</ul>`
          : nothing
      }
      ${shown?.length === 0 && (sessions.loaded || ui.query) ? html`<p class="nothing" role="status">${ui.query.trim() ? words.text('noSessionFound', { query: ui.query.trim() }) : words.text('noSessions')}</p>` : nothing}
    </div>
  </aside>`
}

/** An import gives two homes a conversation of the same id. */
function keyOf({ home, sessionId }: SessionEntry): string {
  return home + sessionId
}

function entryView(scene: Scene, session: FoundSession, parts: ListParts): TemplateResult {
  const { words, state, ui, act, now } = scene
  const { sessionId, home, createdAt, excerpt, messageId } = session
  const title = session.title || words.text('untitled')
  const key = keyOf(session)
  if (ui.renaming === key) return renameView(scene, session, parts)
  if (ui.removing === key) return removeView(scene, session, parts.onDeleted)
  const isCurrent = state.session && keyOf(state.session) === key
  return html`<div class="entry" aria-current=${isCurrent ? 'true' : nothing}>
    <button class="open" type="button" @click=${() => act.openSession(sessionId, home, messageId)}>
      <span dir="auto" title=${title}>${title}</span>
      <span class="muted small kept">${homeOf(scene, home)}<span dir="auto">${excerpt ?? words.day(createdAt, now)}</span></span>
    </button>
    <div class="tools">
      ${iconButton(words.text('renameOf', { title }), 'edit', () => scene.update({ renaming: key, removing: undefined }))}
      ${iconButton(words.text('removeOf', { title }), 'remove', () => scene.update({ removing: key, renaming: undefined }))}
    </div>
  </div>`
}

/** Where it is kept, where there is a choice. */
function homeOf({ words, settings }: Scene, home: HomeKind): TemplateResult | typeof nothing {
  if (!settings.hasEdge) return nothing
  const label = homeName(words, home)
  return html`<span role="img" aria-label=${label} title=${label}>${homeIcon(home)}</span>`
}

function renameView(
  scene: Scene,
  { sessionId, title, home }: FoundSession,
  { unnamed, onUnnamed }: ListParts,
): TemplateResult {
  const { words, chat, state } = scene
  const stop = (): void => scene.update({ renaming: undefined })
  const rename = async (named: string): Promise<void> => {
    // Not every way of typing heeds the field's own limit.
    if (named.length > LONGEST_TITLE)
      return onUnnamed(words.text('titleTooLong', { count: words.number(LONGEST_TITLE) }))
    try {
      await chat.sessions.rename(sessionId, named, { home })
      scene.update({ renaming: undefined })
    } catch (error) {
      onUnnamed(words.text(wordsFor(problemOf(error), state.online)))
    }
  }
  return html`<form class="confirm rename" @submit=${(event: SubmitEvent) => {
    event.preventDefault()
    const named = (event.currentTarget as HTMLFormElement).querySelector('input')?.value.trim()
    if (named) void rename(named)
    else stop()
  }} @keydown=${(event: KeyboardEvent) => {
    if (event.key !== 'Escape' || event.isComposing) return
    event.stopPropagation()
    stop()
  }}>
    <input class="field" dir="auto" maxlength=${LONGEST_TITLE} aria-label=${words.text('titleOf')} .defaultValue=${title} />
    ${unnamed ? html`<p class="state bad" role="alert">${icon('warning')}${unnamed}</p>` : nothing}
    <div class="row">
      <button class="primary">${words.text('save')}</button>
      <button class="outlined" type="button" @click=${stop}>${words.text('cancel')}</button>
    </div>
  </form>`
}

function removeView(scene: Scene, session: FoundSession, onDeleted: ListParts['onDeleted']): TemplateResult {
  const { words, state, act, chat } = scene
  const { sessionId, title, home } = session
  const onCancel = (): void => scene.update({ removing: undefined })
  const onConfirm = (): void => {
    onCancel()
    const removed = chat.sessions.delete(sessionId, { home })
    scene.attempt(
      removed.then((certificate) => {
        onDeleted(title || words.text('untitled'), certificate)
        if (state.session && keyOf(state.session) === keyOf(session)) act.newSession()
      }),
    )
  }
  return confirmation(words, {
    // The title alone is of its own direction.
    ask: words.text('removeSession', { title: `\u2068${title || words.text('untitled')}\u2069` }),
    label: words.text('remove'),
    onCancel,
    onConfirm,
  })
}

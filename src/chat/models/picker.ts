import type { Model } from '../../ports/model.ts'
import type { ConversationState } from '../ports.ts'
import type { ChatModel, ChatPlatform } from '../settings.ts'
import type { Endpoint } from './endpoint-model.ts'
import { findLanguageModel, type LanguageModelClass } from './find-language-model.ts'

export interface ModelOption {
  /**
   * `page`: what the page gave. `browser`: the browser's own. `demo`: a script, no model.
   * `endpoint`: a server and a key, for developers.
   */
  readonly kind: 'page' | 'browser' | 'demo' | 'endpoint'
  readonly state: 'available' | 'downloadable' | 'downloading' | 'unavailable'
  /** 0 to 1, while it is downloaded. */
  readonly progress?: number
}

export interface ModelChoice {
  readonly chosen: ModelOption['kind']
  readonly options: readonly ModelOption[]
}

/**
 * Which model answers local sessions. `subscribe` and `getSnapshot` are as React's
 * `useSyncExternalStore` wants them.
 */
export interface ModelPicker {
  subscribe(listener: () => void): () => void
  getSnapshot(): ModelChoice
  /** One that is `downloadable` is downloaded first: call it in a click. @throws ERR_MODEL */
  choose(kind: 'page' | 'browser' | 'demo'): Promise<void>
  /** Its settings are kept in memory alone. */
  choose(kind: 'endpoint', endpoint: Endpoint): Promise<void>
}

export interface ModelsParts {
  readonly given: () => ChatModel | undefined
  readonly platform: Pick<ChatPlatform, 'fetch' | 'newId'>
  readonly languageModel?: LanguageModelClass | undefined
}

/** The models that there are, and the one that was chosen. */
export class Models implements ModelPicker {
  readonly #parts: ModelsParts
  readonly #language: LanguageModelClass | undefined
  readonly #listeners = new Set<() => void>()
  #endpoint: Endpoint | undefined
  #wanted: ModelOption['kind'] | undefined
  #browser: ModelOption = { kind: 'browser', state: 'unavailable' }
  #choice: ModelChoice
  #looked: Promise<void> | undefined

  constructor(parts: ModelsParts) {
    this.#parts = parts
    this.#language = 'languageModel' in parts ? parts.languageModel : findLanguageModel()
    this.#choice = this.#choose()
  }

  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener)
    void this.#look()
    return () => this.#listeners.delete(listener)
  }

  getSnapshot(): ModelChoice {
    return this.#choice
  }

  async choose(kind: ModelOption['kind'], endpoint?: Endpoint): Promise<void> {
    if (endpoint) this.#endpoint = endpoint
    if (kind === 'browser' && this.#language && this.#browser.state === 'downloadable') {
      const { download } = await import('./language-model.ts')
      await download(this.#language, (progress) =>
        this.#tell({ kind: 'browser', state: 'downloading', progress }),
      )
      this.#tell({ kind: 'browser', state: 'available' })
    }
    this.#wanted = kind
    this.#tell()
  }

  /** The model that answers now. */
  async current(): Promise<Model> {
    await this.#look()
    const { chosen } = this.#refreshed()
    const { given, platform } = this.#parts
    const page = given()
    if (chosen === 'page' && page) return (await import('./function-model.ts')).asModel(page)
    if (chosen === 'browser' && this.#language)
      return (await import('./language-model.ts')).languageModel(this.#language)
    if (chosen === 'endpoint' && this.#endpoint)
      return (await import('./endpoint-model.ts')).endpointModel(this.#endpoint, platform.fetch)
    return (await import('../../agent/demo-model.ts')).demoModel(platform)
  }

  /** How the view names it. */
  describe(): ConversationState['model'] {
    const { chosen } = this.#refreshed()
    const page = this.#parts.given()
    const id =
      chosen === 'page' && typeof page === 'object'
        ? page.id
        : chosen === 'endpoint'
          ? (this.#endpoint?.model ?? 'endpoint')
          : chosen
    return { id, isDemo: chosen === 'demo' }
  }

  /** Asks the browser once whether it has a model. */
  #look(): Promise<void> {
    this.#looked ??= (async () => {
      const state = await this.#language?.availability().catch(() => 'unavailable' as const)
      if (state) this.#tell({ kind: 'browser', state })
    })()
    return this.#looked
  }

  #tell(browser = this.#browser): void {
    this.#browser = browser
    this.#refreshed()
    for (const listener of [...this.#listeners]) listener()
  }

  #refreshed(): ModelChoice {
    const choice = this.#choose()
    if (JSON.stringify(choice) !== JSON.stringify(this.#choice)) this.#choice = choice
    return this.#choice
  }

  #choose(): ModelChoice {
    const hasPage = this.#parts.given() !== undefined
    const options: readonly ModelOption[] = [
      { kind: 'page', state: hasPage ? 'available' : 'unavailable' },
      this.#browser,
      { kind: 'demo', state: 'available' },
      { kind: 'endpoint', state: this.#endpoint ? 'available' : 'unavailable' },
    ]
    const can = (kind: ModelOption['kind']): boolean =>
      options.some((option) => option.kind === kind && option.state === 'available')
    const chosen =
      [this.#wanted, 'page' as const, 'browser' as const].find((kind) => kind && can(kind)) ?? 'demo'
    return { chosen, options }
  }
}

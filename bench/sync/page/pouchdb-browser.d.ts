/** As much of it as the bench calls. */
declare module 'pouchdb-browser' {
  interface Answer {
    readonly id?: string
    readonly error?: unknown
  }

  interface Replication {
    to(url: string, options: { readonly batch_size: number }): Promise<unknown>
    from(url: string, options: { readonly batch_size: number }): Promise<unknown>
  }

  export default class PouchDB<Document> {
    constructor(name: string)
    readonly replicate: Replication
    info(): Promise<unknown>
    bulkDocs(documents: readonly Document[]): Promise<readonly Answer[]>
    allDocs(options: { readonly include_docs: true }): Promise<{
      readonly rows: readonly { readonly doc: Document }[]
    }>
    destroy(): Promise<void>
  }
}

/** As much as is used here of libraries that come without types. */
declare module 'jsdom' {
  export class JSDOM {
    constructor(html: string)
    readonly window: { close(): void; readonly document: { createElement(name: string): unknown } }
  }
}

declare module 'react-dom/client' {
  export function createRoot(container: unknown): { render(node: unknown): void; unmount(): void }
}

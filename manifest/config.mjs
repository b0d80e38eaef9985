/** The manifest says what an app may use: nothing private, and the class by the name under which it is published. */
const publicOnly = {
  name: 'public-only',
  packageLinkPhase({ customElementsManifest }) {
    for (const module of customElementsManifest.modules) {
      const published = 'dist/src/chat/index.js'
      module.path = published
      for (const { declaration } of module.exports) declaration.module = published
      for (const declaration of module.declarations) {
        if (!declaration.customElement) continue
        declaration.members = declaration.members.filter(
          ({ name, privacy }) => !name.startsWith('#') && privacy !== 'private' && privacy !== 'protected',
        )
        declaration.events = declaration.events.filter(({ name }) => name)
        declaration.superclass = { name: 'HTMLElement' }
      }
    }
  },
}

export default { globs: ['src/chat/index.ts'], outdir: 'dist', plugins: [publicOnly] }

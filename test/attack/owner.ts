/** What all sessions of a user should share, as far as it was acknowledged. */
export class OwnerWorld {
  /** Lines of documents by name, each with a mark of its own. */
  readonly documents = new Map<string, readonly Line[]>()
  readonly skills = new Map<string, { readonly description: Line; readonly text: Line }>()
  /**
   * Marks of what was written over or taken off: frozen heads may have it yet, new contexts have
   * not.
   */
  readonly replaced: string[] = []

  documentText(name: string): string | undefined {
    return this.documents
      .get(name)
      ?.map(({ text }) => text)
      .join('\n')
  }

  setDocument(name: string, lines: readonly Line[] | undefined): void {
    const before = this.documents.get(name) ?? []
    this.replaced.push(...before.filter((line) => !lines?.includes(line)).map(({ mark }) => mark))
    if (lines) this.documents.set(name, lines)
    else this.documents.delete(name)
  }

  setSkill(name: string, skill: { readonly description: Line; readonly text: Line } | undefined): void {
    const before = this.skills.get(name)
    for (const part of ['description', 'text'] as const)
      if (before && before[part] !== skill?.[part]) this.replaced.push(before[part].mark)
    if (skill) this.skills.set(name, skill)
    else this.skills.delete(name)
  }

  erased(): void {
    this.documents.clear()
    this.skills.clear()
  }
}

/** A text that stands nowhere else, by its mark. */
export interface Line {
  readonly mark: string
  readonly text: string
}

/** What the model sees of a skill before it loads it. */
export interface SkillEntry {
  /** 1 to 64 lower-case letters, digits and single hyphens between them. */
  readonly name: string
  /** What it does, and when to use it: 1 to 1 024 characters. */
  readonly description: string
}

/** Instructions that a model loads when it needs them. */
export interface Skill extends SkillEntry {
  /** Markdown, as it was written; at most 64 KiB together with `frontMatter`. */
  readonly text: string
  /** Lines of the front matter beside name and description, as they were written. */
  readonly frontMatter?: string
}

/** A skill in the index. */
export interface ListedSkill extends SkillEntry {
  readonly version: string
}

export interface StoredSkill extends Skill {
  readonly version: string
}

export interface SkillQuery {
  /** Skills after this name, in code unit order. */
  readonly after?: string
  /** At most, and by default, 512. */
  readonly first?: number
}

/** How many tokens the start of a session may take. */
export interface StartBudget {
  /** Of the whole; at least 1. Default 3000. */
  readonly working_memory_budget_tokens: number
  /** Most of the pins. Default 1500. */
  readonly pin_budget_tokens: number
  /** Most of the index of skills. Default 800. */
  readonly skills_index_budget_tokens: number
  /** Most of what is recalled. Default 700. */
  readonly recall_budget_tokens: number
}

/** Settings of one user, as they are stored. */
export interface Settings extends StartBudget {
  readonly v: 1
}

/** What changes; what is left out stays as it is. */
export type SettingsPatch = Partial<StartBudget>

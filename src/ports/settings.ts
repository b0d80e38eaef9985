/** How many tokens the start of a session may take. */
export interface BudgetTokens {
  /** At least 1. */
  readonly total: number
  readonly pins: number
  readonly skills: number
  readonly recall: number
}

/** Settings of one user, as they are stored. */
export interface Settings {
  readonly v: 1
  readonly budget_tokens: BudgetTokens
}

/** What changes; what is left out stays as it is. */
export interface SettingsPatch {
  readonly budget_tokens?: Partial<BudgetTokens>
}

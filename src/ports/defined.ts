/** As `Fields`, but what may be undefined may be absent, and never is undefined. */
export type Defined<Fields> = {
  [Field in keyof Fields as undefined extends Fields[Field] ? never : Field]: Fields[Field]
} & {
  [Field in keyof Fields as undefined extends Fields[Field] ? Field : never]?: Exclude<
    Fields[Field],
    undefined
  >
}

/** An object without the fields that are undefined, as JSON has it. */
export function defined<Fields extends object>(fields: Fields): Defined<Fields> {
  const there: { [field: string]: unknown } = {}
  for (const [field, value] of Object.entries(fields)) if (value !== undefined) there[field] = value
  return there as Defined<Fields>
}

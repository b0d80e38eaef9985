import { checkOptions } from './json.ts'

/** Contract: gives the value as it is kept, or throws `ERR_INVALID_ARGUMENT`. */
export type Check = (operation: string, argument: string, value: unknown) => unknown

/** What checks each field of an object. */
export type Fields = { readonly [field: string]: Check }

/** A field that may be absent. */
export function optional(check: Check): Check {
  return (operation, argument, value) => (value === undefined ? undefined : check(operation, argument, value))
}

/** The fields that are given, as they were checked. @param path begins their names in errors */
export function checkFields<Checked>(
  operation: string,
  path: string,
  value: object,
  fields: Fields,
): Checked {
  const checked: { [field: string]: unknown } = {}
  for (const field in fields) {
    const kept = fields[field]?.(operation, path + field, value[field as never])
    if (kept !== undefined) checked[field] = kept
  }
  return checked as Checked
}

/** An object with these fields and no others. @throws ERR_INVALID_ARGUMENT */
export function checkShape<Checked>(
  operation: string,
  argument: string,
  value: unknown,
  fields: Fields,
  path = argument === 'options' ? '' : `${argument}.`,
): Checked {
  checkOptions(operation, argument, value, Object.keys(fields))
  return checkFields(operation, path, value, fields)
}

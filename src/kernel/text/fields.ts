import { checkOptions } from './json.ts'

/** Contract: gives the value as it is kept, or throws `ERR_INVALID_ARGUMENT`. */
export type Check = (operation: string, argument: string, value: unknown) => unknown

/** What checks each field of an object. A field that may be absent has a `?` after its name. */
export type Fields = { readonly [name: string]: Check }

/** Those of the fields that are given, as they were checked. @param path what stands before their names in errors */
export function checkFields<Checked>(
  operation: string,
  path: string,
  value: object,
  fields: Fields,
): Checked {
  const checked: { [field: string]: unknown } = {}
  for (const [name, check] of Object.entries(fields)) {
    const field = name.replace('?', '')
    const given: unknown = value[field as keyof typeof value]
    if (field === name || given !== undefined) checked[field] = check(operation, path + field, given)
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
  const known = Object.keys(fields).map((name) => name.replace('?', ''))
  checkOptions(operation, argument, value, known)
  return checkFields(operation, path, value, fields)
}

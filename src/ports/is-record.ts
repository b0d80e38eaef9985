import type { Json, JsonObject } from './message.ts'

/** Whether a value is an object with fields: neither `null` nor a list. */
export function isRecord(value: Json | undefined): value is JsonObject
export function isRecord<Field = unknown>(value: unknown): value is { readonly [key: string]: Field }
export function isRecord(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

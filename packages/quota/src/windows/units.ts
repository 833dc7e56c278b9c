/** The unit of counters whose identities don't name one. */
export const TOKENS = 'tokens'
/** The unit of limits that don't name one. An operation costs 1 of it, unless its price says otherwise. */
export const REQUESTS = 'requests'
/** The reserved unit of concurrency. It comes last in each schema, without being in the list. */
export const SLOTS = 'slots'

/** Amounts by unit, {@link SLOTS} included. Stored rows use names, never positions. */
export type Amounts = Readonly<Record<string, number>>

/**
 * Converts a request's amounts to amounts by unit, without those of 0.
 *
 * @param units of the schema
 * @param amounts one per unit, then slots if present
 */
export function named(units: readonly string[], amounts: readonly number[]): Amounts {
  let record: Record<string, number> | undefined
  for (let at = 0; at < amounts.length; at++) {
    if (amounts[at] === 0) continue
    record ??= {}
    record[units[at] ?? SLOTS] = amounts[at]!
  }
  return record ?? NOTHING
}

/** Shared by all empty records, because most are empty. */
const NOTHING: Amounts = Object.freeze({})

/** Converts amounts by unit to a schema's order: 0 if missing, without unknown units. */
export function amountsIn(units: readonly string[], amounts: Amounts): readonly number[] {
  return units.map((unit) => amounts[unit] ?? 0)
}

/** The unit of counters whose identities name none. */
export const TOKENS = 'tokens'
/** The unit of concurrency. It is reserved, and the last of each schema without being in its list. */
export const SLOTS = 'slots'

/** Amounts by unit names, {@link SLOTS} included. Stored rows use names, never positions. */
export type Amounts = Readonly<Record<string, number>>

/**
 * Names the amounts of a request, except those of 0.
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

/** Shared by all empty records, as most are. */
const NOTHING: Amounts = Object.freeze({})

/** The amounts of a schema's units in its order: 0 if missing, without unknown units. */
export function amountsIn(units: readonly string[], amounts: Amounts): readonly number[] {
  return units.map((unit) => amounts[unit] ?? 0)
}

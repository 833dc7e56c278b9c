/** The unit of counters whose identities name none. */
export const TOKENS = 'tokens'
/** The unit of concurrency: reserved, and the last of each schema without being in its list. */
export const SLOTS = 'slots'

/** Amounts by the names of their units; {@link SLOTS} among them. Stored rows name units, never positions. */
export type Amounts = Readonly<Record<string, number>>

/**
 * Names the amounts of a request; those of 0 are left out.
 *
 * @param units of the schema
 * @param amounts one a unit, and behind them slots where there are so many
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

/** One for all that are of nothing: most records have one. */
const NOTHING: Amounts = Object.freeze({})

/** The amounts of a schema's units, in its order; 0 where there are none, and units that it does not have are left out. */
export function amountsIn(units: readonly string[], amounts: Amounts): readonly number[] {
  return units.map((unit) => amounts[unit] ?? 0)
}

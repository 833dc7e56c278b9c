import * as v from 'valibot'
import { plain, shown } from '../errors/shown.ts'
import type { Check } from '../options/checks.ts'
import { expectedText } from '../options/expected.ts'
import { listed } from '../options/names.ts'
import { isPlain } from '../options/objects.ts'
import { TOKENS } from '../windows/units.ts'
import type { Cost } from './units.ts'

/** A fault of a cost. */
export interface CostFault {
  /** The member that it is about; `undefined`: the whole. */
  readonly unit?: string | undefined
  readonly message: string
}

/** What the amounts of a cost have to be. */
export interface AmountRange {
  /** The least that a number may be, where a policy counts one unit; some amount of a record has to be as much. */
  readonly least: 0 | 1
  /** @default 2^53 - 1 */
  readonly most?: number | undefined
}

/**
 * The fault of a cost, a number where a policy counts one unit and else amounts by unit; `undefined`: none.
 *
 * @param units of the policy
 */
export function wrongCost(units: readonly string[], cost: unknown, range: AmountRange): CostFault | undefined {
  const [only] = units as [string]
  if (isPlain(cost)) return wrongRecord(units, cost, range)
  if (units.length === 1) return isAmount(cost, range) ? undefined : { message: wrongAmount(only, cost, range) }
  const example = units.includes(TOKENS) ? TOKENS : only
  if (typeof cost !== 'number') return { message: expectedText(`amounts by unit, as { ${example}: 812 }`, cost) }
  return { message: `this policy counts ${listed(units)}: write { ${example}: ${cost} }` }
}

function wrongRecord(
  units: readonly string[],
  cost: Readonly<Record<string, unknown>>,
  range: AmountRange,
): CostFault | undefined {
  const counts = `the policy counts ${listed(units)}`
  const given = Object.keys(cost).filter((unit) => cost[unit] !== undefined)
  if (given.length === 0) return { message: `expected an amount of some unit, got none; ${counts}` }
  const atLeastNothing = { ...range, least: 0 } as const
  for (const unit of given) {
    if (!units.includes(unit)) return { unit: plain(unit), message: `not a unit: ${shown(unit)}; ${counts}` }
    if (isAmount(cost[unit], atLeastNothing)) continue
    const others = units.length === 1 ? '' : `; ${counts}`
    return { unit, message: wrongAmount(unit, cost[unit], atLeastNothing) + others }
  }
  const isEnough = range.least === 0 || given.some((unit) => cost[unit] !== 0)
  return isEnough ? undefined : { message: `expected more than 0 of some unit; ${counts}` }
}

function isAmount(amount: unknown, { least, most = Number.MAX_SAFE_INTEGER }: AmountRange): amount is number {
  return Number.isSafeInteger(amount) && (amount as number) >= least && (amount as number) <= most
}

function wrongAmount(unit: string, amount: unknown, { least, most }: AmountRange): string {
  const range = most === undefined ? `, ${least} or more` : ` from ${least} to ${most}`
  return expectedText(`a whole number of ${unit}${range}`, amount)
}

/** Checks a cost in a document. */
export function costCheck(units: readonly string[], range: AmountRange): Check<Cost> {
  const isRight = v.rawCheck<unknown>(({ dataset: { value }, addIssue }) => {
    const fault = wrongCost(units, value, range)
    if (fault === undefined) return
    const { unit, message } = fault
    const record = value as Record<string, unknown>
    const path = { type: 'object', origin: 'value', input: record, key: unit, value: record?.[unit ?? ''] } as const
    addIssue(unit === undefined ? { message } : { message, path: [path as v.ObjectPathItem] })
  })
  return v.pipe(v.any(), isRight) as Check<Cost>
}

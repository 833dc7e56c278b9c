import type { Policy } from '@scoregw/quota'
import type { LimitRule } from '@scoregw/quota/internal'
import { type Finding, note, warning } from './finding.ts'
import { type Span, spanOf } from './spans.ts'

/** A limit over time with a number, and what a message says of amounts of its unit. */
interface Limited extends Span {
  readonly rule: LimitRule
  readonly limit: number
  /** Where the limit stands in the document. */
  readonly path: string
  text(amount: number): string
}

/**
 * Finds limits that others always reach first: of the same layer and unit, which count every operation that it counts.
 * Windows of one length don't overlap, but two lengths need not begin together. During one window, `ceil(ratio) + 1` of
 * a shorter kind can be open, the first from before it.
 *
 * @param path of the limits
 * @param numberOf a limit's number; `undefined`: it isn't a number
 */
export function idleLimits(
  { limits, operations }: Pick<Policy, 'limits' | 'operations'>,
  path: string,
  numberOf: (rule: LimitRule) => number | undefined,
  text: (rule: LimitRule, amount: number) => string,
): Finding[] {
  const counted = ({ operations: only }: LimitRule): readonly string[] => only ?? Object.keys(operations)
  const limited = limits.flatMap((rule): Limited[] => {
    const limit = numberOf(rule)
    // A limit in shadow refuses nobody.
    if (limit === undefined || rule.window === undefined || rule.shadow) return []
    const where = `${path}.${rule.name}`
    return [{ rule, limit, path: where, text: (amount) => text(rule, amount), ...spanOf(rule.window) }]
  })
  return limited.flatMap((one) => {
    // A bucket's burst binds even if its limit never does.
    if (one.rule.window?.burst !== undefined) return []
    const { layer, unit } = one.rule
    const others = limited.filter(
      (other) =>
        other !== one &&
        other.rule.layer === layer &&
        other.rule.unit === unit &&
        counted(one.rule).every((name) => counted(other.rule).includes(name)),
    )
    return idle(one, others, limited) ?? []
  })
}

function idle(one: Limited, others: readonly Limited[], order: readonly Limited[]): Finding | undefined {
  for (const other of others) {
    const most = mostIn(one, other)
    if (one.limit >= most) return never(one, other, most)
  }
  for (const other of others) {
    const usual = usuallyIn(one, other)
    // If two limits are equal, only the second is reported.
    if (one.limit > usual || (one.limit === usual && isLater(one, other, order))) return hardly(one, other, usual)
  }
  return undefined
}

/** The most that can be charged in a window `one` while `other` limits it. */
function mostIn(one: Limited, other: Limited): number {
  return (Math.ceil(one.longestMs / other.shortestMs) + 1) * other.limit
}

/** The same if both begin together, as they do after a pause. */
function usuallyIn(one: Limited, other: Limited): number {
  return Math.ceil(one.longestMs / other.shortestMs) * other.limit
}

function isLater(one: Limited, other: Limited, order: readonly Limited[]): boolean {
  return one.longestMs > other.longestMs || order.indexOf(one) > order.indexOf(other)
}

function never(one: Limited, other: Limited, most: number): Finding {
  return warning(
    'never_binds',
    one.path,
    `${one.text(one.limit)} can never be reached: "${other.rule.name}" lets through ${one.text(most)} at most in that time`,
    `lower it below ${one.text(usuallyIn(one, other))}, or set it to "unlimited"`,
  )
}

function hardly(one: Limited, other: Limited, usual: number): Finding {
  return note(
    'hardly_binds',
    one.path,
    `${one.text(one.limit)} is reached only around the end of a window: "${other.rule.name}" usually lets through ${one.text(usual)} in that time`,
    `lower it below ${one.text(usual)} if it should have an effect`,
  )
}

import type { Limit, Policy } from '@scoregw/quota'
import { counted } from '../text.ts'
import { type Finding, note, warning } from './finding.ts'
import { spanOf } from './spans.ts'

interface Limited {
  /** A bucket's burst binds even if its limit never does. */
  readonly isBucket: boolean
  readonly label: string
  readonly unit: string | undefined
  readonly limit: number
  readonly shortestMs: number
  readonly longestMs: number
}

/** Limits by category and label. */
type OfLayer = Readonly<Record<string, Readonly<Record<string, Limit>>>>

/**
 * Finds limits that other limits of the same row always reach first. Windows of one length don't overlap, but two
 * lengths need not begin together. During one window, `ceil(ratio) + 1` of a shorter kind can be open, the first from
 * before it.
 *
 * @param path of the layer's limits
 */
export function idleLimits(policy: Policy, path: string, table: OfLayer): Finding[] {
  return policy.categories.flatMap((category) => {
    const limits = policy.windows.flatMap((window): Limited[] => {
      const limit = table[category]?.[window.label]
      return typeof limit === 'number'
        ? [{ label: window.label, unit: window.unit, limit, isBucket: window.burst !== undefined, ...spanOf(window) }]
        : []
    })
    // Limits of different units never reach each other.
    const ofUnit = (unit: string | undefined): Limited[] => limits.filter((limit) => limit.unit === unit)
    return limits.flatMap((limit) =>
      limit.isBucket ? [] : (idle(limit, ofUnit(limit.unit), `${path}.${category}`) ?? []),
    )
  })
}

function idle(one: Limited, limits: readonly Limited[], path: string): Finding | undefined {
  for (const other of limits) {
    if (other === one) continue
    const most = mostIn(one, other)
    if (one.limit >= most) return never(one, other, most, path)
  }
  for (const other of limits) {
    if (other === one) continue
    const usual = usuallyIn(one, other)
    // If two limits are equal, only the second is reported.
    if (one.limit > usual || (one.limit === usual && isLater(one, other, limits)))
      return hardly(one, other, usual, path)
  }
  return undefined
}

/** The most tokens that can be charged in a window `one` while `other` limits them. */
function mostIn(one: Limited, other: Limited): number {
  return (Math.ceil(one.longestMs / other.shortestMs) + 1) * other.limit
}

/** The same if both begin together, as they do after a pause. */
function usuallyIn(one: Limited, other: Limited): number {
  return Math.ceil(one.longestMs / other.shortestMs) * other.limit
}

function isLater(one: Limited, other: Limited, limits: readonly Limited[]): boolean {
  return one.longestMs > other.longestMs || limits.indexOf(one) > limits.indexOf(other)
}

function never(one: Limited, other: Limited, most: number, path: string): Finding {
  return warning(
    'never_binds',
    `${path}.${one.label}`,
    `${counted(one.limit)} can never be reached: "${other.label}" lets through ${counted(most)} at most in that time`,
    `lower it below ${counted(usuallyIn(one, other))}, or set it to "unlimited"`,
  )
}

function hardly(one: Limited, other: Limited, usual: number, path: string): Finding {
  return note(
    'hardly_binds',
    `${path}.${one.label}`,
    `${counted(one.limit)} is reached only around the end of a window: "${other.label}" usually lets through ${counted(usual)} in that time`,
    `lower it below ${counted(usual)} if it should have an effect`,
  )
}

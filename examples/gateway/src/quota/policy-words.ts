import type { Policy } from '@scoregw/quota'
import type { BucketWindow } from '@scoregw/quota/store'

/** Names in a text of the reference: `a`, `b` or `c`. */
export function listOf(names: readonly string[], conjunction: 'or' | 'and' = 'or'): string {
  const quoted = names.map((name) => `\`${name}\``)
  return [quoted.slice(0, -1).join(', '), quoted.at(-1) ?? ''].filter((part) => part !== '').join(` ${conjunction} `)
}

const UNITS = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1_000],
] as const

/** A length in the largest unit that divides it: 1 hour, 5 hours, 1 day. */
function lengthText(lengthMs: number): string {
  const [unit, unitMs] = UNITS.find(([, each]) => lengthMs % each === 0) ?? (['millisecond', 1] as const)
  const count = lengthMs / unitMs
  return `${count} ${unit}${count === 1 ? '' : 's'}`
}

/** How long a window is: 5 hours, a calendar month, or a minute with bursts of 20 %. */
export function windowText(window: Policy['windows'][number]): string {
  if (window.every !== undefined) return `a calendar ${window.every}`
  const { burst } = window as Partial<BucketWindow>
  if (burst === undefined) return lengthText(window.lengthMs)
  return `${lengthText(window.lengthMs)} (in bursts of ${typeof burst === 'number' ? burst : `${Math.round(burst.share * 100)} %`})`
}

/** Texts of amounts and times, as the page shows them. */

const UNITS: readonly (readonly [string, number])[] = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1_000],
]

/** A length in its two largest units, for example `1 h 5 min`; less than a second counts as one. */
export function lengthText(ms: number): string {
  let rest = Math.ceil(Math.max(0, ms) / 1_000) * 1_000
  const parts: string[] = []
  for (const [unit, length] of UNITS) {
    const count = Math.floor(rest / length)
    rest -= count * length
    if (count > 0) parts.push(`${count} ${unit}`)
  }
  return parts.slice(0, 2).join(' ') || '0 s'
}

/** An instant as `2026-08-06 14:06:26`, UTC. */
export function instantText(at: number): string {
  return new Date(at).toISOString().slice(0, 19).replace('T', ' ')
}

/** `1200` as `1,200`. */
export function amountText(value: number): string {
  return value.toLocaleString('en')
}

/** Requests an hour as people would say it. */
export function rateText(perHour: number): string {
  if (perHour === 0) return 'none'
  return perHour >= 120 ? `${perHour / 60} a minute` : `${perHour} an hour`
}

import { IANAZone } from 'luxon'
import { QuotaError } from '../errors/quota-error.ts'
import { shown } from '../errors/shown.ts'

/**
 * Local time is told as luxon and `Date` tell UTC: epoch milliseconds at which a clock in UTC would show it. An offset is
 * what a zone's clock is ahead of UTC, in milliseconds.
 */

const MINUTE_MS = 60_000
const DAY_MS = 86_400_000

/** @throws {QuotaError} `invalid_policy` for a zone that the machine does not know */
export function zoneNamed(name: string): IANAZone {
  const zone = IANAZone.create(name)
  if (zone.isValid) return zone
  throw new QuotaError('invalid_policy', `expected an IANA time zone, "Europe/Berlin" for example, got ${shown(name)}`)
}

export function offsetAt(zone: IANAZone, instant: number): number {
  // Local mean times of old are no whole minutes.
  return Math.round(zone.offset(instant) * MINUTE_MS)
}

/**
 * When a zone's clock first shows a local time. One that is left out, as the clock goes forward over it, comes as much
 * after the gap's beginning as it would have without the gap: both as RFC 5545 has it, section 3.3.5.
 */
export function instantOf(zone: IANAZone, local: number): number {
  // No zone is a day away from UTC, and none changes its clock twice within two days.
  const before = offsetAt(zone, local - DAY_MS)
  const after = offsetAt(zone, local + DAY_MS)
  const first = local - before
  if (before === after || offsetAt(zone, first) === before) return first
  const second = local - after
  return offsetAt(zone, second) === after ? second : first
}

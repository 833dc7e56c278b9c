import { isObject } from '../options/checks.ts'
import { fits } from '../options/faults.ts'
import type { Calendar, OwnAnchor } from '../windows/calendar.ts'
import { anchorCheck, type CalendarAnchor, type CalendarWindow } from '../windows/kinds/calendar.ts'
import type { Policy } from './policy.ts'
import { isInstant } from './values.ts'

/** Most changes of an anchor that a document has: each window is between two of them at the most. */
const MAX_CHANGES = 32

/** A stored anchor; `undefined` where it is none. */
export function fitAnchor(stored: unknown, depth = 0): OwnAnchor | undefined {
  if (!isObject(stored) || depth > MAX_CHANGES) return undefined
  const { was = null, changedAt, ...anchor } = stored
  if (!fits(anchorCheck(), anchor)) return undefined
  if (changedAt === undefined) return anchor
  const before = was === null ? null : fitAnchor(was, depth + 1)
  return isInstant(changedAt) && before !== undefined ? { ...anchor, was: before, changedAt } : undefined
}

/** The policy's windows whose periods each subject has of its own. */
export function ownPeriodWindows({ windows }: Pick<Policy, 'windows'>): readonly CalendarWindow[] {
  return windows.flatMap((window) => (window.every !== undefined && window.anchor === 'subject' ? [window] : []))
}

/** What an anchor means at an instant: the calendar, and the windows that go by it. */
export interface AnchorTerms {
  readonly windows: readonly CalendarWindow[]
  readonly calendar: Calendar | undefined
  /** Epoch milliseconds. */
  readonly now: number
}

/**
 * The anchor to store when one is set.
 *
 * A subject's first anchor is in force with the write. A later one counts from the next period, so it is stored with its
 * previous value, as long as that decides where some window's period begins or ends. A removed anchor leaves a mark, an
 * anchor at the calendar's beginning: otherwise each removal would make the next anchor a first one, with a period of its own.
 *
 * @param stored `null`: the subject never had one
 * @param set `null`: at the calendar's beginning
 */
export function changedAnchor(
  stored: OwnAnchor | null,
  set: CalendarAnchor | null,
  terms: AnchorTerms,
): OwnAnchor | null {
  if (stored === null) return set
  const isSame = ruleOf(stored) === ruleOf(set)
  const next: OwnAnchor = isSame ? { ...stored, ...set } : { ...set, was: stored, changedAt: terms.now }
  // Where no window here goes by it, the last change is kept for those who have one.
  const isHeeded = terms.windows.length > 0
  const shortest = isHeeded ? withoutNeedless(next, terms) : withLastChange(next)
  const isRemoved = Object.keys(shortest).length === 0
  return isRemoved ? { was: null, changedAt: next.changedAt ?? terms.now } : shortest
}

/** Where periods begin, whatever they did before. */
function ruleOf(anchor: CalendarAnchor | null): string {
  const { month = 1, day = 1, time = '00:00' } = anchor ?? {}
  return `${month}-${day} ${time}`
}

function plainOf({ was: _, changedAt: __, ...anchor }: OwnAnchor): CalendarAnchor {
  return anchor
}

function withLastChange(anchor: OwnAnchor): OwnAnchor {
  return anchor.changedAt === undefined ? anchor : { ...anchor, was: anchor.was ? plainOf(anchor.was) : null }
}

/** Leaves out changes without which every window's periods are the same from now on. */
function withoutNeedless(anchor: OwnAnchor, terms: AnchorTerms): OwnAnchor {
  for (const shorter of shorterOnes(anchor)) if (areSame(shorter, anchor, terms)) return withoutNeedless(shorter, terms)
  return anchor
}

/** Each with one change less. */
function shorterOnes(anchor: OwnAnchor): OwnAnchor[] {
  const { was = null, changedAt } = anchor
  if (changedAt === undefined) return []
  const skipped = was?.changedAt === undefined ? [] : [{ ...anchor, was: was.was ?? null }]
  const deeper = was === null ? [] : shorterOnes(was).map((before) => ({ ...anchor, was: before }))
  return [plainOf(anchor), ...skipped, ...deeper]
}

/** The same now is the same ever after: a later period follows from this one and from the anchor that counts last. */
function areSame(one: OwnAnchor, other: OwnAnchor, { windows, calendar, now }: AnchorTerms): boolean {
  const periods = (anchor: OwnAnchor): string =>
    JSON.stringify(windows.map((window) => calendar?.periods(window, now, anchor)))
  return periods(one) === periods(other)
}

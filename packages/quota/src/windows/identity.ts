import type { CalendarAnchor, CalendarPeriod, CalendarWindow, WindowDefinition } from './window.ts'

/** What stores keep in a row: the counter of one limit. They know what a limit is called and when it surely has ended. */
export interface CellSchema {
  readonly kind: 'rolling' | 'calendar' | 'concurrency'
  readonly label: string
  /** What the counter is recognised by: kind, label, and length or calendar rule. One line of text. */
  readonly identity: string
  /**
   * After how many milliseconds from its start it has ended: a rolling window exactly, a calendar period at the latest.
   * `Infinity`: slots of work under way, which time does not end.
   */
  readonly lengthMs: number
}

/** Longer than any period of the calendar, whatever a zone does to its clocks. In milliseconds. */
const LONGEST_MS: Readonly<Record<CalendarPeriod, number>> = {
  hour: 3 * 3_600_000,
  day: 2 * 86_400_000,
  week: 9 * 86_400_000,
  month: 33 * 86_400_000,
  year: 368 * 86_400_000,
}

/**
 * The counter of a window, recognised by kind, label, and length or rule. Everything else that a policy says of it (texts,
 * order, the number of tokens) may change, and the counter goes on; another label, length or rule is another counter and
 * begins unused.
 */
export function windowCell(window: WindowDefinition): CellSchema {
  const { label } = window
  if (window.every === undefined) return rollingCell(label, window.lengthMs)
  const identity = `calendar ${label} ${LONGEST_MS[window.every]} ${ruleText(window)}`
  return { kind: 'calendar', label, identity, lengthMs: LONGEST_MS[window.every] }
}

/** The counter of slots: how much work is under way. */
export function slotsCell(label: string): CellSchema {
  return { kind: 'concurrency', label, identity: `concurrency ${label}`, lengthMs: Number.POSITIVE_INFINITY }
}

function rollingCell(label: string, lengthMs: number): CellSchema {
  return { kind: 'rolling', label, identity: `rolling ${label} ${lengthMs}`, lengthMs }
}

/** A calendar rule as text, the same for all ways of writing the same rule. */
function ruleText({ every, timeZone, weekStartsOn, anchor }: CalendarWindow): string {
  const week = every === 'week' ? ` ${weekStartsOn ?? 1}` : ''
  return `${every} ${timeZone}${week} ${anchor === 'subject' ? 'subject' : anchorText(every, anchor)}`
}

function anchorText(every: CalendarPeriod, { month = 1, day = 1, time = '00:00' }: CalendarAnchor = {}): string {
  if (every === 'year') return `${month}-${day} ${time}`
  return every === 'month' ? `${day} ${time}` : time
}

/** A counter from its identity; `undefined` for text that is none that this version knows. */
export function cellOfIdentity(identity: string): CellSchema | undefined {
  const [kind, label, length] = identity.split(' ')
  if (!label) return undefined
  if (kind === 'concurrency') return length === undefined ? slotsCell(label) : undefined
  const lengthMs = Number(length)
  if (!Number.isSafeInteger(lengthMs) || lengthMs <= 0) return undefined
  if (kind === 'rolling') return rollingCell(label, lengthMs)
  return kind === 'calendar' ? { kind, label, identity, lengthMs } : undefined
}

/**
 * The one order in which cells stand in a row, whatever the order in a policy: by length, then by label; slots come last.
 */
export function inRowOrder<C extends Pick<CellSchema, 'lengthMs' | 'label'>>(cells: readonly C[]): readonly C[] {
  return [...cells].sort((a, b) => {
    if (a.lengthMs !== b.lengthMs) return a.lengthMs < b.lengthMs ? -1 : 1
    return a.label < b.label ? -1 : 1
  })
}

/** FNV-1a over UTF-16 units, an unsigned 32-bit number: short, the same everywhere, and no secret. */
export function hash32(text: string): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  return hash >>> 0
}

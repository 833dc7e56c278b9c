/** Where the numbers of a batch stand: `lua/numbers.lua` reads them by the same names, from 1. A test compares the two. */

/** How many numbers begin a batch. */
export const BEGIN = 10

/** Offsets within a group of takes. */
export const IS_STALE = 0
export const REVISION = 1
export const SHARED = 2
export const OWN = 3
export const BEHIND_GROUP = 3

/** Kinds of cells. */
export const KINDS = { rolling: 0, calendar: 1, concurrency: 2, bucket: 3 } as const

/** Marks takes of one group that follow each other. It replaces the count of an operation's numbers. */
export const RUN = -1

/** Codes of steps: the order of `by_code` in `lua/steps.lua`. */
export const STEPS = [
  'take',
  'charge',
  'fit',
  'expect',
  'within',
  'fewer',
  'readable',
  'give',
  'repair',
  'keep',
  'record',
  'index',
  'list',
] as const

export type StepName = (typeof STEPS)[number]

export function codeOf(step: StepName): number {
  return 1 + STEPS.indexOf(step)
}

/** The outcome of an operation. */
export type Status =
  | 'done'
  /** A take that doesn't fit. */
  | 'refused'
  | 'other_settings'
  /** The server's clock is outside the take's periods. */
  | 'other_periods'
  /** A row or an index cannot be read. */
  | 'unreadable'
  /** Not carried out: the batch has a row with an unknown list of limits. */
  | 'stopped'
  /** The id has another record than expected: the reply contains it. */
  | 'other_record'
  /** The server's clock is outside the times that were expected. */
  | 'outside'
  | 'too_many_holds'

/** Statuses by their code in the script. */
export const STATUSES: Readonly<Record<string, Status>> = {
  a: 'done',
  r: 'refused',
  s: 'other_settings',
  t: 'other_periods',
  b: 'unreadable',
  l: 'stopped',
  k: 'other_record',
  w: 'outside',
  h: 'too_many_holds',
}

/** Where the numbers of a batch stand: `lua/numbers.lua` reads them by the same names, from 1. A test compares the two. */

/** How many numbers begin a batch. */
export const BEGIN = 11

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
  'old',
] as const

export type StepName = (typeof STEPS)[number]

export function codeOf(step: StepName): number {
  return 1 + STEPS.indexOf(step)
}

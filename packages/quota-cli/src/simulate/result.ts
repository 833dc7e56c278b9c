import type { Counting, Subject } from '@scoregw/quota'
import type { SkippedLines } from './skipped.ts'
import type { LimitName, Tally } from './tally.ts'

/** A policy's effect on a log: the JSON of `--json`. Instants are epoch milliseconds. */
export interface PolicyResult {
  /** The policy's file. */
  readonly policy: string
  readonly requests: number
  readonly admitted: number
  readonly refused: number
  /** How many of the refusals no waiting would have helped. */
  readonly hopeless: number
  /** Requests for operations that this policy does not have. They were not decided. */
  readonly unknownOperations: number
  /** The units that the policy counts. */
  readonly units: readonly string[]
  /** Set if it counts one unit. */
  readonly tokens?: Totals | undefined
  /** Set if it counts several, by unit. */
  readonly cost?: Totals | undefined
  readonly subjects: { readonly all: number; readonly refused: number }
  /** By the binding limit, most frequent first. */
  readonly limits: readonly LimitResult[]
  readonly operations: readonly OperationResult[]
  /** The subjects with the most refusals. */
  readonly refusedMost: readonly SubjectResult[]
  /** Equal intervals of time, starting at `from`. */
  readonly time: {
    readonly from: number
    readonly lengthMs: number
    readonly asked: readonly number[]
    readonly refused: readonly number[]
  }
  /** Whether concurrency limits were left out, because a log does not show how long requests ran. */
  readonly withoutConcurrency: boolean
}

/** The charged amount, and the cost of refused requests. */
interface Totals {
  readonly charged: Counting['amount']
  readonly refused: Counting['amount']
}

interface LimitResult extends LimitName {
  readonly limit: number
  readonly refusals: number
  readonly subjects: number
  readonly firstAt: number
  readonly lastAt: number
}

interface OperationResult {
  readonly operation: string
  readonly requests: number
  readonly refused: number
}

interface SubjectResult {
  readonly subject: Subject
  readonly requests: number
  readonly refused: number
  readonly firstRefusedAt: number
}

/** The log's counts, and each policy's result. */
export interface Simulation {
  readonly logs: readonly string[]
  readonly lines: number
  readonly requests: number
  readonly unmetered: number
  /** Requests that came after a later one in the log. They were sorted. */
  readonly outOfOrder: number
  readonly skipped: { readonly count: number; readonly reasons: readonly SkippedLines[] }
  /** Whether there were more lines than `--max-lines`. */
  readonly isCut: boolean
  /** The first and last instant; `null` without requests. */
  readonly from: number | null
  readonly until: number | null
  readonly policies: readonly PolicyResult[]
  /** For two policies: how many requests only one of them refuses. */
  readonly difference?: Difference
}

export interface Difference {
  readonly both: number
  readonly firstAlone: number
  readonly secondAlone: number
  /** The subjects whose refusals differ, largest difference first. */
  readonly subjects: readonly { readonly subject: Subject; readonly first: number; readonly second: number }[]
}

/** @param top how many subjects to list */
export function policyResult(policy: string, tally: Tally, top: number, hadConcurrency: boolean): PolicyResult {
  const { requests, refused, hopeless, unknown, log, buckets } = tally
  return {
    policy,
    requests,
    admitted: requests - refused,
    refused,
    hopeless,
    unknownOperations: unknown,
    units: tally.units,
    ...totalsOf(tally),
    subjects: { all: log.subjects.length, refused: tally.refusedSubjects },
    limits: limitsOf(tally),
    operations: log.operations.flatMap((operation, index) => {
      const asked = tally.requestsOf[index]!
      return asked === 0 ? [] : [{ operation, requests: asked, refused: tally.refusedFor[index]! }]
    }),
    refusedMost: mostRefused(tally, top),
    time: {
      from: buckets.from,
      lengthMs: buckets.lengthMs,
      asked: [...buckets.asked],
      refused: [...buckets.refused],
    },
    withoutConcurrency: hadConcurrency,
  }
}

function totalsOf({ units, charged, refusedCosts }: Tally): Pick<PolicyResult, 'tokens' | 'cost'> {
  if (units.length === 1) return { tokens: { charged: charged[0]!, refused: refusedCosts[0]! } }
  const byUnit = (sums: readonly number[]) => Object.fromEntries(units.map((unit, u) => [unit, sums[u]!]))
  return { cost: { charged: byUnit(charged), refused: byUnit(refusedCosts) } }
}

function limitsOf({ limits }: Tally): LimitResult[] {
  return limits
    .map(({ layer, category, window, unit, limit, refusals, subjects, firstAt, lastAt }) => ({
      ...{ layer, category, window, unit, limit, refusals, subjects, firstAt, lastAt },
    }))
    .toSorted((a, b) => b.refusals - a.refusals)
}

function mostRefused(tally: Tally, top: number): SubjectResult[] {
  return largest(tally.refusedBy, top).map((subject) => ({
    subject: tally.subjectName(subject),
    requests: tally.requestsBy[subject]!,
    refused: tally.refusedBy[subject]!,
    firstRefusedAt: tally.firstRefusal[subject]!,
  }))
}

/** The indexes of the largest numbers above 0, largest first. */
function largest(numbers: ArrayLike<number>, count: number): number[] {
  const places = Array.from(numbers, (_, place) => place).filter((place) => numbers[place]! > 0)
  return places.sort((a, b) => numbers[b]! - numbers[a]! || a - b).slice(0, count)
}

export function differenceOf(first: Tally, second: Tally, top: number): Difference {
  let both = 0
  let firstAlone = 0
  let secondAlone = 0
  for (let index = 0; index < first.refusedAt.length; index++) {
    const inFirst = first.refusedAt[index] === 1
    const inSecond = second.refusedAt[index] === 1
    if (inFirst && inSecond) both++
    else if (inFirst) firstAlone++
    else if (inSecond) secondAlone++
  }
  const changes = Array.from(first.refusedBy, (refused, subject) => Math.abs(refused - second.refusedBy[subject]!))
  const subjects = largest(changes, top).map((subject) => ({
    subject: first.subjectName(subject),
    first: first.refusedBy[subject]!,
    second: second.refusedBy[subject]!,
  }))
  return { both, firstAlone, secondAlone, subjects }
}

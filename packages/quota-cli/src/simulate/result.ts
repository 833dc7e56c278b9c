import type { Counting, Policy, Subject } from '@scoregw/quota'
import { type Unit, unitName } from '../amounts.ts'
import type { SkippedLines } from './skipped.ts'
import type { Tally } from './tally.ts'

/** A policy and where it came from. */
export interface NamedPolicy {
  readonly file: string
  readonly policy: Policy
}

/** A policy's effect on a log: the JSON of `--json`. Instants are epoch milliseconds. */
export interface PolicyResult {
  /** The policy's file. */
  readonly policy: string
  readonly requests: number
  readonly admitted: number
  readonly refused: number
  /** How many of the refusals no waiting would have helped. */
  readonly hopeless: number
  /** Requests that this policy can't decide: it lacks the operation, or the line the subject's key. */
  readonly undecided: number
  /** The units that the policy counts. */
  readonly units: readonly Unit[]
  /** Amounts: numbers if the policy counts one unit, else by unit. */
  readonly cost: Totals
  readonly subjects: { readonly all: number; readonly refused: number }
  /** By the reported limit, most frequent first. */
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

interface LimitResult {
  readonly name: string
  readonly unit: string
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
export function policyResult({ file, policy }: NamedPolicy, tally: Tally, top: number): PolicyResult {
  const { requests, refused, hopeless, undecided, log, buckets } = tally
  return {
    policy: file,
    requests,
    admitted: requests - refused,
    refused,
    hopeless,
    undecided,
    units: tally.units,
    cost: totalsOf(tally),
    subjects: { all: log.subjects.length, refused: tally.bySubject.filter((count) => count.refused > 0).length },
    limits: limitsOf(tally),
    operations: tally.byOperation
      .map((count, at) => ({ operation: log.operations[at] ?? '', requests: count.requests, refused: count.refused }))
      .filter((count) => count.requests > 0),
    refusedMost: mostRefused(tally, top),
    time: {
      from: buckets.from,
      lengthMs: buckets.lengthMs,
      asked: [...buckets.asked],
      refused: [...buckets.refused],
    },
    withoutConcurrency: policy.limits.some(({ window }) => window === undefined),
  }
}

function totalsOf({ units, charged, refusedCosts }: Tally): Totals {
  const amount = (sums: readonly number[]): Counting['amount'] =>
    units.length === 1 ? sums[0]! : Object.fromEntries(units.map((unit, u) => [unitName(unit), sums[u]!]))
  return { charged: amount(charged), refused: amount(refusedCosts) }
}

function limitsOf({ limits }: Tally): LimitResult[] {
  return [...limits.values()]
    .map(({ subjects, ...limit }) => ({ ...limit, subjects: subjects.size }))
    .toSorted((a, b) => b.refusals - a.refusals)
}

function mostRefused({ bySubject, log }: Tally, top: number): SubjectResult[] {
  return bySubject
    .flatMap(({ requests, refused, firstRefusedAt }, at): SubjectResult[] =>
      firstRefusedAt === undefined ? [] : [{ subject: log.subjects[at] ?? '', requests, refused, firstRefusedAt }],
    )
    .toSorted((a, b) => b.refused - a.refused)
    .slice(0, top)
}

export function differenceOf(first: Tally, second: Tally, top: number): Difference {
  const both = [...first.refusedAt].filter((index) => second.refusedAt.has(index)).length
  const subjects = first.log.subjects
    .map((subject, at) => {
      const [one = 0, other = 0] = [first, second].map(({ bySubject }) => bySubject[at]?.refused)
      return { subject, first: one, second: other }
    })
    .filter((each) => each.first !== each.second)
    .toSorted((a, b) => Math.abs(b.first - b.second) - Math.abs(a.first - a.second))
    .slice(0, top)
  return { both, firstAlone: first.refusedAt.size - both, secondAlone: second.refusedAt.size - both, subjects }
}

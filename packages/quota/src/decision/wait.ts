import {
  applying,
  type DecisionFrame,
  type Demand,
  lastingOf,
  mostOf,
  neededOf,
  type Reading,
  startOf,
  sumOf,
} from './decide.ts'
import type { Refusal } from './decision.ts'

/** The limits that apply from an instant on. */
interface Phase {
  readonly from: number
  readonly demand: Demand
}

/** The limits now, and after each end of a number or a plan of the subject, in order. */
function phasesOf(demand: Demand, now: number): readonly [Phase, ...Phase[]] {
  const phases: [Phase, ...Phase[]] = [{ from: now, demand }]
  for (let { later } = demand.quotas; later !== undefined; { later } = later.quotas) {
    phases.push({ from: later.from, demand: { ...demand, quotas: later.quotas } })
  }
  return phases
}

/** One limit of a request that time can end: when it refuses, and until when. */
interface Count {
  /** The limit's name. */
  readonly name: string
  readonly isMet: (demand: Demand, instant: number) => boolean
  /** When its count ends under these limits, or when a bucket has refilled enough. */
  readonly endsAt: (demand: Demand) => number | undefined
}

function countsOf(frame: DecisionFrame, demand: Demand, { now, states }: Reading): readonly Count[] {
  const counts: Count[] = []
  for (const limit of applying(frame, demand.quotas)) {
    const requested = neededOf(demand.costs, limit)
    if (requested === 0 || limit.kind === 'concurrency') continue
    const [startedAt, sum] = [startOf(states, limit), sumOf(states, limit)]
    const endsAt = (of: Demand): number | undefined =>
      lastingOf(frame, limit, startedAt, of, now, sum + requested - mostOf(of.quotas, limit)).endsAt
    const isMet = (of: Demand, instant: number): boolean => {
      const most = mostOf(of.quotas, limit)
      if (limit.kind === 'bucket') return requested <= most && instant >= (endsAt(of) ?? now)
      return (instant >= (endsAt(of) ?? now) ? 0 : sum) + requested <= most
    }
    counts.push({ name: limit.rule.name, isMet, endsAt })
  }
  return counts
}

/**
 * Returns a decision's refusals with true waits, for a subject whose number or plan ends: when each limit admits the
 * request, with no other traffic.
 *
 * @param refusals in the policy's order
 * @param reportedOf chooses the refusal to report
 */
export function withEnds(
  frame: DecisionFrame,
  demand: Demand,
  reading: Reading,
  refusals: readonly Refusal[],
  reportedOf: (refusals: readonly Refusal[]) => Refusal,
): { readonly refusals: readonly Refusal[]; readonly refusedBy: Refusal } {
  const phases = phasesOf(demand, reading.now)
  const counts = countsOf(frame, demand, reading)
  const phaseAt = (instant: number): Phase => phases.findLast(({ from }) => from <= instant) ?? phases[0]
  const instants = phases
    .flatMap(({ from, demand: of }) => [from, ...counts.map((count) => count.endsAt(of) ?? from)])
    .filter((instant) => instant > reading.now)
    .sort((a, b) => a - b)
  const firstFor = (of: readonly Count[]): number | undefined =>
    instants.find((instant) => of.every((count) => count.isMet(phaseAt(instant).demand, instant)))
  const waiting = refusals.map((refusal): Refusal => {
    const count = counts.find(({ name }) => name === refusal.name)
    if (count === undefined) return refusal
    const resetAt = firstFor([count])
    return { ...refusal, retryable: resetAt !== undefined, resetAt: resetAt ?? refusal.resetAt }
  })
  const reported = reportedOf(waiting)
  if (reported.kind === 'concurrency') return { refusals: waiting, refusedBy: reported }
  const resetAt = firstFor(counts)
  return {
    refusals: waiting,
    refusedBy: { ...reported, retryable: resetAt !== undefined, resetAt: resetAt ?? reported.resetAt },
  }
}

import { NOT_OPEN } from '../windows/row.ts'
import { applying, type DecisionFrame, type Demand, lastingOf, type Reading, type ShownLimit } from './decide.ts'
import type { Violation } from './decision.ts'

/** The limits that apply from an instant on. */
interface Phase {
  readonly from: number
  readonly demand: Demand
}

/** The limits now, and after each end of an override or a plan of the subject, in order. */
function phasesOf(demand: Demand, now: number): readonly Phase[] {
  const phases: Phase[] = [{ from: now, demand }]
  for (let { later } = demand.quotas; later !== undefined; { later } = later.quotas) {
    phases.push({ from: later.from, demand: { ...demand, quotas: later.quotas } })
  }
  return phases
}

/** One limit of a request that time can end: when it refuses, and until when. */
interface Count {
  readonly at: number
  readonly isMet: (demand: Demand, instant: number) => boolean
  /** When its count ends under these limits, or when a bucket has refilled enough. */
  readonly endsAt: (demand: Demand) => number | undefined
}

function countsOf(frame: DecisionFrame, demand: Demand, { now, states }: Reading): readonly Count[] {
  const { layout } = frame
  const counts: Count[] = []
  for (const { at } of applying(frame, demand.quotas)) {
    const { kind } = layout.cells[at]!
    const requested = demand.costs[layout.units[at]!]!
    if (requested === 0 || kind === 'concurrency') continue
    const [startedAt = NOT_OPEN, sum = 0] = states.slice(2 * at, 2 * at + 2)
    const endsAt = (of: Demand): number | undefined =>
      lastingOf(frame, at, startedAt, of, now, sum + requested - of.quotas.limits[at]!).endsAt
    const isMet = (of: Demand, instant: number): boolean => {
      const most = of.quotas.limits[at]!
      if (kind === 'bucket') return layout.usedAt(states, at, of.quotas.rates, instant) + requested <= most
      return (instant >= (endsAt(of) ?? now) ? 0 : sum) + requested <= most
    }
    counts.push({ at, isMet, endsAt })
  }
  return counts
}

/**
 * Returns a refusal's violations with true waits, for a subject whose override or plan ends: when each limit admits the
 * request, with no other traffic.
 *
 * @param violations in the policy's order
 * @param binding chooses the violation to report
 */
export function withEnds(
  frame: DecisionFrame,
  demand: Demand,
  reading: Reading,
  violations: readonly Violation[],
  binding: (violations: readonly Violation[]) => Violation,
): { readonly violations: readonly Violation[]; readonly binding: Violation } {
  const phases = phasesOf(demand, reading.now)
  const counts = countsOf(frame, demand, reading)
  const phaseAt = (instant: number): Phase => phases.findLast(({ from }) => from <= instant) ?? phases[0]!
  const instants = phases
    .flatMap(({ from, demand: of }) => [from, ...counts.map((count) => count.endsAt(of) ?? from)])
    .filter((instant) => instant > reading.now)
    .sort((a, b) => a - b)
  const firstFor = (of: readonly Count[]): number | undefined =>
    instants.find((instant) => of.every((count) => count.isMet(phaseAt(instant).demand, instant)))
  const waiting = violations.map((violation): Violation => {
    const count = counts.find(({ at }) => positionOf(frame, demand, violation) === at)
    if (count === undefined) return violation
    const resetAt = firstFor([count])
    return { ...violation, retryable: resetAt !== undefined, resetAt: resetAt ?? violation.resetAt }
  })
  const reported = binding(waiting)
  if (reported.kind === 'concurrency') return { violations: waiting, binding: reported }
  const resetAt = firstFor(counts)
  return {
    violations: waiting,
    binding: { ...reported, retryable: resetAt !== undefined, resetAt: resetAt ?? reported.resetAt },
  }
}

function positionOf(frame: DecisionFrame, { quotas }: Demand, { layer, window }: Violation): number | undefined {
  const isOf = (limit: ShownLimit): boolean =>
    limit.layer.name === layer && frame.layout.cells[limit.at]!.label === window
  return applying(frame, quotas).find(isOf)?.at
}

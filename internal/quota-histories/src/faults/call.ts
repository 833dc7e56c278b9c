/** One call of a history as its caller saw it, repeats included. */
export interface Call {
  /** When the first attempt was made and the last answered, by a counter that all callers share. */
  readonly from: number
  readonly until: number
  /**
   * - `admitted`: a take was charged its one token.
   * - `refused`: it was not.
   * - `withdrawn`: an attempt without an answer was charged for a while at most, and the engine gave it back.
   * - `doubtful`: an attempt without an answer was charged; the engine may give it back later.
   * - `cancelled`: the token of an admitted take was given back.
   */
  readonly outcome: 'admitted' | 'refused' | 'withdrawn' | 'doubtful' | 'cancelled'
  /** Tokens used after a take, as its decision says. */
  readonly used?: number | undefined
}

/** How many calls ended so, before and after an instant of a take that nobody knows. */
interface Others {
  /** Those that were answered before the take was requested. */
  readonly before: Readonly<Record<Call['outcome'], number>>
  /** Those that were requested before the take was answered. */
  readonly begun: Readonly<Record<Call['outcome'], number>>
}

function othersOf(take: Call, calls: readonly Call[]): Others {
  const none = { admitted: 0, refused: 0, withdrawn: 0, doubtful: 0, cancelled: 0 }
  const others = { before: { ...none }, begun: { ...none } }
  for (const call of calls) {
    if (call === take) continue
    if (call.until < take.from) others.before[call.outcome]++
    if (call.from < take.until) others.begun[call.outcome]++
  }
  return others
}

/** Least and most tokens that can have been in use at some instant of a take, by all that is known of other calls. */
function boundsAt(take: Call, calls: readonly Call[]): readonly [least: number, most: number] {
  const own = take.outcome === 'admitted' ? 1 : 0
  const { before, begun } = othersOf(take, calls)
  const least = own + before.admitted - begun.cancelled
  const perhaps = begun.doubtful + begun.withdrawn - before.withdrawn
  return [least, own + begun.admitted + perhaps - before.cancelled]
}

/**
 * What is wrong with a history of takes of one token and their cancels under one limit; empty where nothing is. Takes
 * time in proportion to the square of the calls.
 */
export function violationsOf(calls: readonly Call[], limit: number): string[] {
  return calls.flatMap((take) => {
    const { outcome, used } = take
    if (outcome !== 'admitted' && outcome !== 'refused') return []
    const [least, most] = boundsAt(take, calls)
    const said = `a take was ${outcome}, ${used} of ${limit} used; it was ${least} to ${most}`
    const isPossible = outcome === 'admitted' ? least <= limit : most >= limit
    const isTrue = used === undefined || (used >= least && used <= Math.min(most, limit))
    return isPossible && isTrue ? [] : [said]
  })
}

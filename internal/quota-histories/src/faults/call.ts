/** One call of a history as its caller saw it, repeats included. */
export interface Call {
  /** When the first attempt was made and the last one answered, on a counter that all callers share. */
  readonly from: number
  readonly until: number
  /**
   * - `admitted`: a take was charged its token.
   * - `refused`: it was not.
   * - `withdrawn`: an attempt without an answer was charged at most for a while, and the engine refunded it.
   * - `doubtful`: an attempt without an answer was charged; the engine may refund it later.
   * - `cancelled`: the token of an admitted take was refunded.
   */
  readonly outcome: 'admitted' | 'refused' | 'withdrawn' | 'doubtful' | 'cancelled'
  /** Tokens used after a take, according to its decision. */
  readonly used?: number | undefined
}

/** How many calls had each outcome, before and after the unknown instant of a take. */
interface Others {
  /** Calls that were answered before the take was sent. */
  readonly before: Readonly<Record<Call['outcome'], number>>
  /** Calls that were sent before the take was answered. */
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

/** The fewest and most tokens that can have been used at some instant during a take, judged by the other calls. */
function boundsAt(take: Call, calls: readonly Call[]): readonly [least: number, most: number] {
  const own = take.outcome === 'admitted' ? 1 : 0
  const { before, begun } = othersOf(take, calls)
  const least = own + before.admitted - begun.cancelled
  const perhaps = begun.doubtful + begun.withdrawn - before.withdrawn
  return [least, own + begun.admitted + perhaps - before.cancelled]
}

/**
 * Checks a history of one-token takes and cancels under one limit. @returns the violations. It takes time proportional
 * to the square of the calls
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

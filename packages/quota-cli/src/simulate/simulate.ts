import type { Counting, Policy, RefusedDecision } from '@scoregw/quota'
import type { Io } from '../io.ts'
import { Progress } from '../progress.ts'
import { percent } from '../text.ts'
import type { EventLog, LoggedEvent } from './event-log.ts'
import type { ReadLog } from './read-log.ts'
import { replay, withoutConcurrency } from './replay.ts'
import { differenceOf, type PolicyResult, policyResult, type Simulation } from './result.ts'
import { Tally } from './tally.ts'

/** A policy and where it came from. */
export interface NamedPolicy {
  readonly file: string
  readonly policy: Policy
}

/** Called for every refusal; @param policy its file */
export type RefusalListener = (policy: string, event: LoggedEvent, decision: RefusedDecision<Counting>) => void

/** Replays a log under each policy. @param top how many subjects to list */
export async function simulate(
  logs: readonly string[],
  read: ReadLog,
  policies: readonly NamedPolicy[],
  top: number,
  io: Io,
  onRefusal: RefusalListener = () => undefined,
): Promise<Simulation> {
  const { log } = read
  const from = log.events[0]?.at ?? null
  const until = log.events.at(-1)?.at ?? null
  const tallies: Tally[] = []
  const results: PolicyResult[] = []
  for (const { file, policy } of policies) {
    const tally = new Tally(log, policy.units, from ?? 0, until ?? 0)
    await played(log, file, withoutConcurrency(policy), tally, io, onRefusal)
    tallies.push(tally)
    results.push(
      policyResult(
        file,
        tally,
        top,
        policy.limits.some(({ window }) => window === undefined),
      ),
    )
  }
  const [first, second] = tallies
  return {
    logs,
    lines: read.lines,
    requests: log.events.length,
    unmetered: read.unmetered,
    outOfOrder: log.outOfOrder,
    skipped: { count: read.skipped.reduce((sum, { count }) => sum + count, 0), reasons: read.skipped },
    isCut: read.isCut,
    from,
    until,
    policies: results,
    ...(first === undefined || second === undefined ? {} : { difference: differenceOf(first, second, top) }),
  }
}

async function played(
  log: EventLog,
  file: string,
  policy: Policy,
  tally: Tally,
  io: Io,
  onRefusal: RefusalListener,
): Promise<void> {
  const progress = new Progress(io)
  await replay(log, policy, {
    admitted: (event, cost) => tally.admitted(event, cost),
    refused: (event, decision, index) => {
      tally.refusal(event, decision, index)
      onRefusal(file, event, decision)
    },
    undecided: () => {
      tally.undecided++
    },
    async progress(done) {
      progress.show(() => `replaying ${file} ${percent(done, log.events.length)}`)
      // Yields to the event loop, so that signals are handled.
      await new Promise<void>((resolve) => setImmediate(resolve))
      return !io.signal.aborted
    },
  })
  progress.end()
}

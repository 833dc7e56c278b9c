import type { Counting, RefusedDecision } from '@scoregw/quota'
import type { Io } from '../io.ts'
import { Progress } from '../progress.ts'
import { percent } from '../text.ts'
import type { LoggedEvent } from './event-log.ts'
import type { ReadLog } from './read-log.ts'
import { replay, withoutConcurrency } from './replay.ts'
import { differenceOf, type NamedPolicy, type PolicyResult, policyResult, type Simulation } from './result.ts'
import { Tally } from './tally.ts'

/** Called for every refusal; @param policy its file */
export type RefusalListener = (policy: string, event: LoggedEvent, decision: RefusedDecision<Counting>) => void

/** What to replay. */
export interface Replaying {
  /** The files of the log. */
  readonly logs: readonly string[]
  readonly read: ReadLog
  readonly policies: readonly NamedPolicy[]
  /** How many subjects to list. */
  readonly top: number
  readonly io: Io
  /** @default nobody listens */
  readonly onRefusal?: RefusalListener
}

/** Replays a log under each policy. */
export async function simulate(replaying: Replaying): Promise<Simulation> {
  const { logs, read, policies, top } = replaying
  const { log } = read
  const from = log.events[0]?.at ?? null
  const until = log.events.at(-1)?.at ?? null
  const tallies: Tally[] = []
  const results: PolicyResult[] = []
  for (const named of policies) {
    const tally = new Tally(log, named.policy.units)
    await play(replaying, named, tally)
    tallies.push(tally)
    results.push(policyResult(named, tally, top))
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

async function play({ read: { log }, io, onRefusal }: Replaying, { file, policy }: NamedPolicy, tally: Tally) {
  const progress = new Progress(io)
  await replay(log, withoutConcurrency(policy), {
    admitted: (event, cost) => tally.admitted(event, cost),
    refused: (event, decision, index) => {
      tally.refusal(event, decision, index)
      onRefusal?.(file, event, decision)
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

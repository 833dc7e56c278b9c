import {
  type Counting,
  createQuota,
  memoryStore,
  type Policy,
  type RefusedDecision,
  type Subject,
} from '@scoregw/quota'
import { luxonCalendar } from '@scoregw/quota/calendar'
import { given, unitName } from '../amounts.ts'
import type { EventLog, LoggedEvent } from './event-log.ts'

/** Receives a replay's results, request by request. */
export interface ReplayListener {
  admitted(event: LoggedEvent, cost: Counting['amount']): void
  refused(event: LoggedEvent, decision: RefusedDecision<Counting>, index: number): void
  /** Called if the policy lacks the operation, or the line the subject's key. */
  undecided(): void
  /** Called after a batch of requests, and after the last. @returns whether to continue */
  progress(done: number): Promise<boolean>
}

/** How many requests are decided without a pause. */
const STRIDE = 50_000

/**
 * Runs a log's requests through the real engine, sorted by time, on an embedded store whose clock follows the log.
 *
 * @param policy without concurrency, see {@link withoutConcurrency}
 */
export async function replay(log: EventLog, policy: Policy, listener: ReplayListener): Promise<void> {
  const clock = { at: 0, now: () => clock.at }
  const store = memoryStore({ clock, maxSubjects: Math.max(1, log.subjects.length) })
  const quota = createQuota<string, Counting>({ policy, store, clock, calendar: luxonCalendar(), logger: false })
  const own = ownLayers(policy)
  const known = log.operations.map((name) => Object.hasOwn(policy.operations, name))
  for (const [index, event] of log.events.entries()) {
    if (index % STRIDE === 0 && !(await listener.progress(index))) break
    clock.at = event.at
    const subject = subjectUnder(own, log.subjects[event.subject]!)
    if (known[event.operation] !== true || subject === undefined) {
      listener.undecided()
      continue
    }
    const request = requestOf(policy, log, event)
    // A request whose tokens were refunded is decided like any other, and leaves no charge.
    const decision = event.isRefunded
      ? quota.peekSync({ subject, ...request })
      : quota.consumeSync({ subject, ...request })
    if (decision.allowed) listener.admitted(event, decision.cost)
    else listener.refused(event, decision, index)
  }
  await listener.progress(log.events.length)
  await quota.close()
}

/** What a line requests, but for its subject. */
function requestOf(policy: Policy, log: EventLog, { operation, costs, plan }: LoggedEvent) {
  return {
    operation: log.operations[operation] ?? '',
    cost: costUnder(policy, log, costs),
    plan: plan === 0 ? undefined : log.plans[plan],
  }
}

/** The costs in a policy's units. A log may contain others as well. */
function costUnder({ units }: Policy, log: EventLog, costs: LoggedEvent['costs']): Counting['cost'] | undefined {
  const names = log.units.map(unitName)
  const amounts = units.flatMap((unit) => {
    const name = unitName(unit)
    const amount = costs[names.indexOf(name)]
    return amount === undefined ? [] : [[name, given(unit, amount)] as const]
  })
  return amounts.length === 0 ? undefined : Object.fromEntries(amounts)
}

/** The names of the layers with separate windows per subject. */
export function ownLayers({ layers }: Pick<Policy, 'layers'>): string[] {
  return layers.filter(({ shared }) => !shared).map(({ name }) => name)
}

/** The subject's keys in a policy's layers. A log may contain others as well; `undefined`: it has none of them. */
function subjectUnder(own: readonly string[], subject: Subject): Subject | undefined {
  if (typeof subject === 'string') return subject
  const keys = own.map((layer) => [layer, subject[layer] ?? null] as const)
  return keys.every(([, key]) => key === null) ? undefined : Object.fromEntries(keys)
}

/** The policy without its limits of concurrency, since a log does not show how long requests ran. */
export function withoutConcurrency(policy: Policy): Policy {
  return { ...policy, limits: policy.limits.filter(({ window }) => window !== undefined) }
}

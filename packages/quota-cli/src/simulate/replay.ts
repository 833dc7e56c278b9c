import {
  type Counting,
  createQuota,
  type Decision,
  memoryStore,
  type Policy,
  type RefusedDecision,
  type Subject,
  type SyncQuota,
} from '@scoregw/quota'
import { luxonCalendar } from '@scoregw/quota/calendar'
import { unitNames } from '@scoregw/quota/store'
import type { EventLog, LoggedEvent } from './event-log.ts'

/** Receives a replay's results, request by request. */
export interface ReplayListener {
  admitted(event: LoggedEvent, cost: Counting['amount'], index: number): void
  refused(event: LoggedEvent, decision: RefusedDecision<Counting>, index: number): void
  /** Called if the policy does not have the operation. */
  unknown(event: LoggedEvent, index: number): void
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
  const quota = createQuota<string, Counting>({ policy, store, clock, calendar: luxonCalendar() })
  const units = unitNames(policy)
  const own = ownLayers(policy)
  const known = log.operations.map((name) => Object.hasOwn(policy.operations, name))
  const order = log.order()
  for (let done = 0; done < order.length; done++) {
    if (done % STRIDE === 0 && !(await listener.progress(done))) break
    const index = order[done]!
    const event = log.event(index)
    clock.at = event.at
    if (known[event.operation] === true) {
      const decision = decided(quota, own, units, log, event)
      if (decision.allowed) listener.admitted(event, decision.cost, index)
      else listener.refused(event, decision, index)
    } else {
      listener.unknown(event, index)
    }
  }
  await listener.progress(order.length)
  await quota.close()
}

/** A request whose tokens were refunded is decided like any other, and leaves no charge. */
function decided(
  quota: SyncQuota<string, Counting>,
  own: readonly string[],
  units: readonly string[],
  log: EventLog,
  event: LoggedEvent,
): Decision<Counting> {
  const { subject, operation, costs, plan, isRefunded } = event
  const request = {
    subject: subjectUnder(own, log.subjects[subject]!),
    operation: log.operations[operation]!,
    cost: costUnder(units, log, costs),
    plan: plan === 0 ? undefined : log.plans[plan],
  }
  return isRefunded ? quota.peekSync(request) : quota.consumeSync(request)
}

/** The costs in a policy's units. A log may contain others as well. */
function costUnder(units: readonly string[], log: EventLog, costs: LoggedEvent['costs']): Counting['cost'] | undefined {
  if (units.length === 1) return costs[log.units.indexOf(units[0]!)]
  const given = units.map((unit) => [unit, costs[log.units.indexOf(unit)]] as const)
  const named = given.filter(([, amount]) => amount !== undefined)
  return named.length === 0 ? undefined : Object.fromEntries(named)
}

/** The names of the layers with separate windows per subject. */
export function ownLayers({ layers }: Policy): string[] {
  return layers.filter(({ shared }) => !shared).map(({ name }) => name)
}

/** The subject's keys in a policy's layers. A log may contain others as well. */
function subjectUnder(own: readonly string[], subject: Subject): Subject {
  return typeof subject === 'string' ? subject : Object.fromEntries(own.map((layer) => [layer, subject[layer]!]))
}

/** The policy without its concurrency limit, since a log does not show how long requests ran. */
export function withoutConcurrency(policy: Policy): Policy {
  const { concurrency, ...rest } = policy
  if (concurrency === undefined) return policy
  const { label } = concurrency
  const without = <T>(limits: Readonly<Record<string, T>>): Record<string, T> =>
    Object.fromEntries(Object.entries(limits).filter(([name]) => name !== label))
  const eachCategory = <T>(table: Readonly<Record<string, Readonly<Record<string, T>>>>) =>
    Object.fromEntries(Object.entries(table).map(([category, limits]) => [category, without(limits)]))
  const eachLayer = <T>(table: Readonly<Record<string, Readonly<Record<string, Readonly<Record<string, T>>>>>>) =>
    Object.fromEntries(Object.entries(table).map(([layer, categories]) => [layer, eachCategory(categories)]))
  const { plans } = rest
  return {
    ...rest,
    base: eachLayer(rest.base),
    ...(plans === undefined
      ? {}
      : { plans: Object.fromEntries(Object.entries(plans).map(([plan, table]) => [plan, eachLayer(table)])) }),
  }
}

import {
  createQuota,
  type Decision,
  memoryStore,
  type Policy,
  type RefusedDecision,
  type Subject,
  type SyncQuota,
} from '@scoregw/quota'
import { luxonCalendar } from '@scoregw/quota/calendar'
import type { EventLog, LoggedEvent } from './event-log.ts'

/** Receives the results of a replay, request by request. */
export interface ReplayListener {
  admitted(event: LoggedEvent, cost: number, index: number): void
  refused(event: LoggedEvent, decision: RefusedDecision, index: number): void
  /** The policy does not have the operation. */
  unknown(event: LoggedEvent, index: number): void
  /** After so many requests, and after the last. */
  progress(done: number): Promise<boolean>
}

/** How many requests are decided in one go. */
const STRIDE = 50_000

/**
 * Runs each request of a log through the real engine, in the order of time, on an embedded store whose clock follows the
 * log.
 *
 * @param policy without concurrency, see {@link withoutConcurrency}
 */
export async function replay(log: EventLog, policy: Policy, listener: ReplayListener): Promise<void> {
  const clock = { at: 0, now: () => clock.at }
  const store = memoryStore({ clock, maxSubjects: Math.max(1, log.subjects.length) })
  const quota = createQuota({ policy, store, clock, calendar: luxonCalendar() })
  const own = ownLayers(policy)
  const known = log.operations.map((name) => Object.hasOwn(policy.operations, name))
  const order = log.order()
  for (let done = 0; done < order.length; done++) {
    if (done % STRIDE === 0 && !(await listener.progress(done))) break
    const index = order[done]!
    const event = log.event(index)
    clock.at = event.at
    if (known[event.operation] === true) {
      const decision = decided(quota, own, log, event)
      if (decision.allowed) listener.admitted(event, decision.cost, index)
      else listener.refused(event, decision, index)
    } else {
      listener.unknown(event, index)
    }
  }
  await listener.progress(order.length)
  await quota.close()
}

/** A request whose tokens came back when it ended is refused like any other, and leaves nothing charged. */
function decided(quota: SyncQuota, own: readonly string[], log: EventLog, event: LoggedEvent): Decision {
  const { subject, operation, cost, plan, isRefunded } = event
  const request = {
    subject: subjectUnder(own, log.subjects[subject]!),
    operation: log.operations[operation]!,
    cost,
    plan: plan === 0 ? undefined : log.plans[plan],
  }
  return isRefunded ? quota.peekSync(request) : quota.consumeSync(request)
}

/** The names of the layers in which each subject has windows of its own. */
export function ownLayers({ layers }: Policy): string[] {
  return layers.filter(({ shared }) => !shared).map(({ name }) => name)
}

/** A log may name keys of more layers than a policy has. */
function subjectUnder(own: readonly string[], subject: Subject): Subject {
  return typeof subject === 'string' ? subject : Object.fromEntries(own.map((layer) => [layer, subject[layer]!]))
}

/** The same policy without its limit of concurrency: a log does not show how long requests ran. */
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

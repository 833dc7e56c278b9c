import { createQuota, type Policy, type Quota, type ReserveRequest, type SyncQuota } from '@scoregw/quota'
import { luxonCalendar } from '@scoregw/quota/calendar'
import type { QuotaStore } from '@scoregw/quota/store'
import type { Decider } from '../deciders/decider.ts'

/** Requests of one kind under one policy. It uses only the public API, so that it can measure any version. */
export interface Traffic {
  readonly name: string
  readonly policy: Policy
  /** How many counters a decision compares and charges. */
  readonly counters: number
  /**
   * The method to call. `hold` reserves with a time to live, and commits.
   *
   * @default 'consume'
   */
  readonly call?: 'consume' | 'reserve' | 'hold'
  /** @default true */
  readonly isAdmitted?: boolean
  /** The n-th request of a user. */
  request(user: string, n: number): ReserveRequest
  /** Writes settings before the measurement. */
  prepare?(quota: Quota): Promise<void>
}

/** An engine under the policy of a traffic. */
export async function engineFor(traffic: Traffic, store: QuotaStore): Promise<Quota> {
  const quota = createQuota({ policy: traffic.policy, store, calendar: luxonCalendar() })
  try {
    await traffic.prepare?.(quota)
    return quota
  } catch (error) {
    await quota.close()
    throw error
  }
}

/** What requests are sent to. */
interface Engine {
  readonly name: string
  readonly store: QuotaStore
  /** Closes the store's connections. */
  readonly end?: () => unknown
}

/** Sends the requests of a traffic to a store. */
export async function deciderFor(traffic: Traffic, { name, store, end }: Engine): Promise<Decider> {
  try {
    const quota = await engineFor(traffic, store)
    let n = 0
    const admit = (user: string) => isExpected(quota, traffic, traffic.request(user, n++))
    const stop = async () => {
      await quota.close()
      await end?.()
    }
    return { name, admit, stop }
  } catch (error) {
    await end?.()
    throw error
  }
}

/** Sends one request. Resolves to whether the answer was the expected one. */
async function isExpected(quota: Quota, traffic: Traffic, request: ReserveRequest): Promise<boolean> {
  const { call = 'consume', isAdmitted = true } = traffic
  if (call === 'consume') {
    const { allowed, source } = await quota.consume(request)
    return allowed === isAdmitted && source === 'store'
  }
  const reservation = await quota.reserve(request)
  if (call === 'hold') await reservation.commit()
  return reservation.allowed === isAdmitted && reservation.decision?.source === 'store'
}

/** {@link isExpected} for a synchronous engine. */
export function isExpectedSync(quota: SyncQuota, traffic: Traffic, request: ReserveRequest): boolean {
  const { call = 'consume', isAdmitted = true } = traffic
  if (call === 'consume') return quota.consumeSync(request).allowed === isAdmitted
  const reservation = quota.reserveSync(request)
  if (call === 'hold') reservation.commit()
  return reservation.allowed === isAdmitted
}

import { createQuota, type QuotaStore, type SettingsStore } from '@scoregw/quota'
import { luxonCalendar } from '@scoregw/quota/calendar'
import type { ManualClock } from '@scoregw/quota-testkit'
import type { Party } from '../history.ts'
import { POLICIES } from '../policies.ts'

/** The policies of the history. Each has its own counters and settings. */
export type PolicyName = keyof typeof POLICIES

/** Where stores keep their data: a server, a database, or this process. */
export interface Place {
  /**
   * Opens an engine, like a process that starts. It is closed with the place.
   *
   * @param process its name, which begins its nonces, so that two processes never share one
   */
  open(policy: PolicyName, clock: ManualClock, process: string): Promise<Party>
  /** All stored data, as JSON. */
  dump(): Promise<unknown>
  /** Stores the result of {@link dump}, possibly of an earlier version, in an empty place. */
  load(stored: unknown): Promise<void>
  close(): Promise<void>
}

/** Creates an engine under a policy of the history. Its nonces are the same in every run. */
export function engineOf(
  name: PolicyName,
  clock: ManualClock,
  process: string,
  stores: { readonly store: QuotaStore; readonly settingsStore: SettingsStore },
): Party {
  let nonces = 0
  const quota = createQuota({
    policy: POLICIES[name],
    clock,
    calendar: luxonCalendar(),
    createNonce: () => `${process}-${++nonces}`,
    ...stores,
  })
  return { quota, clock }
}

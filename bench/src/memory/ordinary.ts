import { createQuota, memoryStore, type SyncQuota } from '@scoregw/quota'
import { luxonCalendar } from '@scoregw/quota/calendar'
import type { Contestant } from '../rounds.ts'
import { isExpectedSync, type Traffic } from '../traffic/traffic.ts'
import { deciding } from './contestant.ts'

/** More users than any suite has. */
const MOST = 10_000_000

export function nameOf({ name }: Pick<Traffic, 'name'>): string {
  return `quota: ${name}`
}

/** Ordinary traffic on a store in memory, with synchronous calls. */
export async function ordinary(traffic: Traffic): Promise<Contestant> {
  const quota: SyncQuota = createQuota({
    policy: traffic.policy,
    calendar: luxonCalendar(),
    store: memoryStore({ maxSubjects: MOST, maxIds: MOST }),
  })
  await traffic.prepare?.(quota)
  let n = 0
  return deciding(nameOf(traffic), (users) => {
    let count = 0
    for (const user of users) if (isExpectedSync(quota, traffic, traffic.request(`user-${user}`, n++))) count++
    return count
  })
}

import { type Clock, createQuota, type Limit, memoryStore, type SyncQuota } from '@scoregw/quota'
import { MAX_LIMIT } from '@scoregw/quota/internal'
import type { Contestant } from '../rounds.ts'
import { PRICES, policyOf } from '../traffic/policies.ts'
import { awaiting, deciding } from './contestant.ts'
import { type Batches, one, skewed } from './users.ts'

/** More users than any suite has. */
const MOST_USERS = 10_000_000

/** Tokens per decision. */
export const COST: number = PRICES['music.upsert']

/** An engine of {@link policyOf}, whose limits for everybody never refuse. */
export function engine(personal: Limit, clock?: Clock): SyncQuota {
  return createQuota({ policy: policyOf({ personal }), store: memoryStore({ clock, maxSubjects: MOST_USERS }) })
}

/** This project's contestants, by the case that they show. */
export const OURS = {
  admitted: 'quota: consumeSync',
  refused: 'quota: consumeSync, all refused',
  awaited: 'quota: await consume',
} as const

/** Floods, compared with {@link OURS.admitted}. */
export const FLOODS = {
  unseen: 'quota: consumeSync, subjects never seen before',
  ids: 'quota: reserveSync, ids never seen before',
  skewed: 'quota: consumeSync, a million subjects, few of them hot',
  one: 'quota: consumeSync, one subject',
} as const

const OPERATION = 'music.upsert'

export function ours(): Contestant[] {
  return [admitted(OURS.admitted), refused(), awaited()]
}

export function floods(): Contestant[] {
  return [unseen(), ids(), admitted(FLOODS.skewed, skewed), admitted(FLOODS.one, one)]
}

function admitted(name: string, asked?: Batches): Contestant {
  return deciding(name, askingSync(engine(MAX_LIMIT)), asked && { asked })
}

function refused(): Contestant {
  return deciding(OURS.refused, askingSync(engine(COST - 1)), { expected: 'none' })
}

function askingSync(quota: SyncQuota): (users: Uint32Array) => number {
  return (users) => {
    let count = 0
    for (const user of users) if (quota.consumeSync({ subject: `user-${user}`, operation: OPERATION }).allowed) count++
    return count
  }
}

function awaited(): Contestant {
  const quota = engine(MAX_LIMIT)
  return awaiting(OURS.awaited, async (subject) => (await quota.consume({ subject, operation: OPERATION })).allowed)
}

/** Replaces engines before their stores are full, so that a full store's refusals are not measured. */
function freshEngines(): () => SyncQuota {
  const mostCalls = 400_000
  let quota = engine(MAX_LIMIT)
  let calls = 0
  return () => {
    if (++calls % mostCalls === 0) quota = engine(MAX_LIMIT)
    return quota
  }
}

function unseen(): Contestant {
  const next = freshEngines()
  let seen = 0
  return deciding(FLOODS.unseen, (users) => {
    let count = 0
    for (const _ of users) if (next().consumeSync({ subject: `user-${seen++}`, operation: OPERATION }).allowed) count++
    return count
  })
}

function ids(): Contestant {
  const next = freshEngines()
  let seen = 0
  return deciding(FLOODS.ids, (users) => {
    let count = 0
    for (const user of users) {
      const reservation = next().reserveSync({ subject: `user-${user}`, operation: OPERATION, id: `id-${seen++}` })
      if (reservation.status === 'reserved') count++
    }
    return count
  })
}

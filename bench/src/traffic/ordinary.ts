import type { Quota, ReserveRequest } from '@scoregw/quota'
import { MAX_LIMIT } from '@scoregw/quota/internal'
import { USERS } from '../memory/users.ts'
import { FOUR_LAYERS, type Operation, PLANS, PRICES, policyOf, THREE_LAYERS } from './policies.ts'
import type { Traffic } from './traffic.ts'

export const USUAL_OPERATION: Operation = 'music.upsert'
const THREE: readonly Operation[] = ['music.list', 'music.rate', 'music.upsert']
const EIGHT = Object.keys(PRICES) as readonly Operation[]
const TTL_MS = 60_000
const TEAMS = 100

/** The traffic that the others are compared with. */
export const USUAL: Traffic = {
  name: 'two layers, one price',
  policy: policyOf(),
  counters: 6,
  request: (subject) => ({ subject, operation: USUAL_OPERATION }),
}

export const THREE_PRICES: Traffic = {
  ...USUAL,
  name: 'three prices in rotation',
  request: (subject, n) => ({ subject, operation: rotated(THREE, n) }),
}

export const EIGHT_PRICES: Traffic = {
  ...USUAL,
  name: 'eight prices in rotation',
  request: (subject, n) => ({ subject, operation: rotated(EIGHT, n) }),
}

export const HOLDS: Traffic = {
  ...USUAL,
  name: 'a hold and its end',
  call: 'hold',
  request: (subject) => ({ subject, operation: USUAL_OPERATION, ttlMs: TTL_MS }),
}

export const MIXED: Traffic = {
  name: 'all of these at once',
  policy: policyOf({ layers: THREE_LAYERS, hasCalendar: true, hasConcurrency: true, hasPlans: true }),
  counters: 9,
  request: (user, n) => ({
    subject: inTeam(user),
    operation: rotated(THREE, n),
    ...(n % 3 > 0 && { plan: rotated(PLANS, n) }),
  }),
  prepare: overrideSome,
}

/** Policies that services have, each one step away from the usual one. */
export const ORDINARY: readonly Traffic[] = [
  USUAL,
  THREE_PRICES,
  layered('three layers', THREE_LAYERS),
  layered('four layers', FOUR_LAYERS),
  { ...USUAL, name: 'a calendar day', policy: policyOf({ hasCalendar: true }) },
  { ...USUAL, name: 'concurrency of another operation', policy: policyOf({ hasConcurrency: true }) },
  {
    ...USUAL,
    name: 'plans and overrides',
    policy: policyOf({ hasPlans: true }),
    request: (subject, n) => ({ subject, operation: USUAL_OPERATION, ...(n % 3 > 0 && { plan: rotated(PLANS, n) }) }),
    prepare: overrideSome,
  },
  HOLDS,
  MIXED,
]

function layered(name: string, layers: typeof FOUR_LAYERS): Traffic {
  return {
    name,
    policy: policyOf({ layers }),
    counters: 3 * layers.length,
    request: (user) => ({ subject: inTeam(user), operation: USUAL_OPERATION }),
  }
}

function inTeam(user: string): ReserveRequest['subject'] {
  return { personal: user, team: `team-${Number(user.slice('user-'.length)) % TEAMS}` }
}

function rotated<T>(values: readonly T[], n: number): T {
  return values[n % values.length] as T
}

/** Gives every tenth user a separate limit. */
async function overrideSome(quota: Quota): Promise<void> {
  for (let user = 0; user < USERS; user += 10) {
    await quota.subjects.set({ personal: `user-${user}` }, { limits: { 'personal-5h': MAX_LIMIT - 3 } })
  }
}

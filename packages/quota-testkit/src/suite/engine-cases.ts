import assert from 'node:assert/strict'
import {
  createQuota,
  type Decision,
  definePolicy,
  type HeldReservation,
  isSyncQuota,
  type Policy,
  type Quota,
  type Reservation,
} from '@scoregw/quota'
import { enginesOn, usedBy } from './engines.ts'
import type { ConformanceCase, Need } from './harness.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from './limits.ts'
import { throwsCode } from './probe.ts'
import { casesOn, casesWith, needing, type Plays, type Scene } from './scene.ts'

interface Given extends Scene {
  readonly quota: Quota
  /** An engine in another process. */
  readonly other: Quota
}

/** Makes cases that play with two engines, maybe of two policies. */
function engineCases(
  [one, another = one]: readonly [one: Policy, another?: Policy],
  plays: Plays<Given>,
  ...needs: readonly Need[]
): readonly ConformanceCase[] {
  const stage = { about: 'engine: ', needs }
  return casesWith(stage, plays, async (scene, play) => {
    const [quota, other] = enginesOn(scene, one, another)
    try {
      await play({ ...scene, quota, other })
    } finally {
      await Promise.all([quota.close(), other.close()])
    }
  })
}

function refusal(decision: Decision): Extract<Decision, { allowed: false }> {
  assert.equal(decision.allowed, false)
  if (decision.allowed) throw new TypeError('not a refusal')
  return decision
}

/** Asserts that the reservation was admitted, and returns it. */
function held(reservation: Reservation): HeldReservation {
  assert.ok(reservation.status === 'reserved', `expected a reservation, got "${reservation.status}"`)
  return reservation
}

/** Limits of each subject for reads and writes, and of the site for both, because leases are of whole rows. */
const WINDOWS = definePolicy({
  limits: {
    read: { by: 'personal', for: 'read', limit: 20, per: '1h' },
    'read-5h': { by: 'personal', for: 'read', limit: 40, per: '5h' },
    write: { by: 'personal', for: 'write', limit: 20, per: '1h' },
    site: { shared: 'site', limit: 100, per: '1h' },
    'site-5h': { shared: 'site', limit: 200, per: '5h' },
  },
  operations: {
    look: { category: 'read' },
    load: { category: 'read', cost: 4 },
    save: { category: 'write', cost: 15 },
    ping: { category: 'read', cost: 0, free: true },
  },
})
const LOAD = { subject: 'u', operation: 'load' } as const
const LOOK = { subject: 'u', operation: 'look' } as const
const NOTHING_USED = { read: 0, 'read-5h': 0, write: 0, site: 0, 'site-5h': 0 }
const LOADED = { read: 4, 'read-5h': 4, write: 0, site: 4, 'site-5h': 4 }

const UNLIMITED = definePolicy({
  limits: {
    own: { by: 'personal', limit: 'unlimited', per: '1h' },
    all: { shared: 'site', limit: 'unlimited', per: '1h' },
  },
  operations: { work: {} },
})

const SHARED_FIRST = definePolicy({
  limits: { all: { shared: 'site', limit: 100, per: '1h' }, own: { by: 'personal', limit: 100, per: '1h' } },
  operations: { work: {} },
})

const HOURLY = { by: 'user', limit: 10, per: '1h' } as const
const WRITES = { by: 'user', limit: 6, per: '1h', for: 'write' } as const
const SERVICE = { shared: 'service', limit: 1_000, per: '1h' } as const
const OPERATIONS = { look: { category: 'read' }, save: { category: 'write', cost: 3 } } as const
/** Every operation, and writes once more. */
const BEFORE = definePolicy({ limits: { hourly: HOURLY, writes: WRITES, service: SERVICE }, operations: OPERATIONS })
/** `hourly` has another name, and `writes` counts other operations. */
const AFTER = definePolicy({
  limits: { perHour: { ...HOURLY, formerly: 'hourly' }, writes: { ...WRITES, for: 'read' }, service: SERVICE },
  operations: OPERATIONS,
})

const RUNNING = definePolicy({
  limits: {
    hourly: { by: 'personal', limit: 10, per: '1h' },
    all: { shared: 'site', limit: 1_000, per: '1h' },
    running: { by: 'personal', concurrency: 2, for: 'work' },
  },
  operations: { look: {}, work: { cost: 3 } },
})

const DAILY = definePolicy({
  limits: {
    daily: { by: 'personal', limit: 10, every: 'day', timeZone: 'UTC' },
    all: { shared: 'site', limit: 1_000, every: 'day', timeZone: 'UTC' },
  },
  operations: { look: {} },
})

const REQUESTS = { limit: 5, per: '1m' } as const
const TOKENS = { limit: 1_000, of: 'tokens', per: '1m' } as const
const BUDGET = { limit: 9_000, of: 'money', per: '1h' } as const
/** Requests, tokens and money, per user, per team and for all subjects. */
const UNITS = definePolicy({
  limits: {
    requests: { by: 'user', ...REQUESTS },
    tokens: { by: 'user', ...TOKENS },
    budget: { by: 'user', ...BUDGET },
    'team-requests': { by: 'team', ...REQUESTS },
    'team-tokens': { by: 'team', ...TOKENS },
    'team-budget': { by: 'team', ...BUDGET },
    'all-requests': { shared: 'all', ...REQUESTS },
    'all-tokens': { shared: 'all', ...TOKENS },
    'all-budget': { shared: 'all', ...BUDGET },
  },
  operations: { ask: { cost: { tokens: 400, money: 3_000 } } },
})
const ASK = { subject: { user: 'u', team: 't' }, operation: 'ask' } as const

/** Asserts that these amounts of requests, tokens and money are used in all three layers. */
async function inEach(quota: Quota, ...amounts: readonly number[]): Promise<void> {
  assert.deepEqual(Object.values(await usedBy(quota, ASK.subject)), [...amounts, ...amounts, ...amounts])
}

/** Cases of engines on a full store. */
const FULL_CASES = casesOn(
  { needs: ['bounded'], wishes: { maxSubjects: 3 } },
  {
    async "a full store isn't a refusal: the failure policy decides"({ store, clock }) {
      const engineWith = (work: 'open' | 'closed'): Quota =>
        createQuota({ policy: SHARED_FIRST, store, clock, failurePolicy: { work }, logger: false })
      const [closed, open] = [engineWith('closed'), engineWith('open')]
      for (const subject of ['a', 'b', 'c']) await closed.consume({ subject, operation: 'work' })
      const request = { subject: 'new', operation: 'work' }
      const error = await throwsCode(() => closed.consume(request), 'quota_unavailable')
      assert.equal((error.cause as { code?: unknown }).code, 'store_full')
      assert.equal((await closed.consume({ ...request, subject: 'a' })).allowed, true)
      const decision = await open.consume(request)
      assert.deepEqual([decision.allowed, decision.source], [true, 'fallback'])
      assert.deepEqual(await usedBy(open, 'new'), { all: 4, own: 0 })
    },
  },
)

/** Cases for an engine on the store. */
export const ENGINE_CASES: readonly ConformanceCase[] = [
  ...engineCases([WINDOWS], {
    async 'a request is refused before Retry-After and admitted at it'({ quota, clock, advance }) {
      await quota.consume({ ...LOOK, cost: 20 })
      await advance(HOUR_MS)
      await quota.consume({ ...LOOK, cost: 20 })
      await advance(1)
      const request = { ...LOOK, cost: 5 }
      const decision = refusal(await quota.consume(request))
      assert.equal(decision.refusedBy.name, 'read-5h')
      await advance(decision.resetAt - decision.now - 1)
      refusal(await quota.consume(request))
      await advance(decision.now + Number(decision.retryAfterSeconds) * 1_000 - clock.now())
      assert.equal((await quota.consume(request)).allowed, true)
    },
    'one id in two processes is reserved by one of them': needing('ids', async ({ quota, other }) => {
      const request = { ...LOAD, id: 'attempt-7' }
      const first = await quota.reserve(request)
      const second = await other.reserve(request)
      assert.deepEqual([first.status, second.status], ['reserved', 'duplicate'])
      await second.cancel()
      assert.deepEqual(await usedBy(other, 'u'), LOADED)
      await throwsCode(() => other.reserve({ ...request, operation: 'look' }), 'id_conflict')
      await throwsCode(() => other.reserve({ ...request, cost: 5 }), 'id_conflict')
      for (const load of [7, 0]) {
        await other.settings.update({ prices: { load } })
        assert.equal((await other.reserve(request)).status, 'duplicate', `at a price of ${load}`)
      }
      await first.cancel()
      assert.deepEqual(await usedBy(other, 'u'), NOTHING_USED)
      assert.equal((await other.reserve(request)).status, 'cancelled')
    }),
    async 'settings changed by one process apply in the other'({ quota, other }) {
      await quota.consume({ ...LOOK, cost: 15 })
      await other.settings.update({ prices: { look: 6 } })
      refusal(await quota.consume(LOOK))
      await other.settings.update({ mode: 'lenient' })
      assert.equal((await quota.consume(LOOK)).allowed, true)
      assert.equal((await usedBy(other, 'u')).read, 21)
    },
    async 'a reset resets limits of the subject’s own, and shared ones only when they are named'({ quota }) {
      await quota.consume(LOAD)
      await quota.consume({ subject: 'u', operation: 'save' })
      await quota.reset('u', { limits: ['read', 'read-5h'] })
      assert.deepEqual(await usedBy(quota, 'u'), { read: 0, 'read-5h': 0, write: 15, site: 19, 'site-5h': 19 })
      await quota.reset('u')
      await quota.reset('u', { limits: ['site'] })
      assert.deepEqual(await usedBy(quota, 'u'), { ...NOTHING_USED, 'site-5h': 19 })
      await throwsCode(() => quota.reset('u', { limits: ['nowhere'] }), 'invalid_reset')
    },
    'the Sync calls are available on a synchronous store': needing('sync', async ({ quota, store }) => {
      assert.equal(store.sync, true)
      assert.ok(isSyncQuota(quota), 'an engine whose stores answer at once has the Sync calls')
      assert.equal(quota.consumeSync(LOAD).allowed, true)
      quota.reserveSync(LOAD).cancel()
      assert.equal(quota.statusSync('u').limits.read?.used, 4)
      assert.deepEqual(await usedBy(quota, 'u'), LOADED)
    }),
  }),
  ...engineCases([BEFORE, AFTER], {
    async 'counter and stored numbers of a limit go on under its new name'(given) {
      const { quota: before, other: after } = given
      const isAllowed = async (quota: Quota, cost = 1, subject = 'u') =>
        (await quota.consume({ subject, operation: 'look', cost })).allowed
      await before.settings.update({ limits: { hourly: 8 } })
      await before.subjects.set('v', { limits: { hourly: 3 } })
      for (const subject of ['u', 'v']) assert.equal(await isAllowed(before, 3, subject), true)
      const [{ limits: own }, { limits: stored }] = [await after.status('u'), await after.status('v')]
      assert.deepEqual([own.perHour?.limit, own.perHour?.used], [8, 3])
      assert.deepEqual([stored.perHour?.limit, stored.perHour?.used, stored.perHour?.from], [3, 3, 'subject'])
      assert.equal(await isAllowed(after, 6), false)
      assert.equal(await isAllowed(after, 5), true)
      assert.equal(await isAllowed(before), false)
      await after.reset('u', { limits: ['perHour'] })
      assert.deepEqual(await usedBy(before, 'u'), { hourly: 0, writes: 5, service: 11 })
    },

    'a hold is settled in the limits that it was charged in, also by another process': needing(
      'holds',
      async (given) => {
        const { quota: before, other: after } = given
        const saved = held(await before.reserve({ subject: 'u', operation: 'save', ttlMs: 60_000 }))
        const looked = held(await before.reserve({ ...LOOK, ttlMs: 60_000 }))
        assert.deepEqual(await usedBy(after, 'u'), { perHour: 4, writes: 3, service: 4 })
        const resumed = await after.resume(looked.token ?? '')
        assert.equal((await resumed.add(2)).allowed, true)
        const grown = { perHour: 6, writes: 5, service: 6 }
        assert.deepEqual(await usedBy(after, 'u'), grown, 'it grows where reads count now')
        await (await after.resume(saved.token ?? '')).commit(1)
        assert.deepEqual(await saved.commit(3), { charged: 1, uncharged: 0 }, 'answered from the record')
        assert.deepEqual(await usedBy(after, 'u'), { perHour: 4, writes: 3, service: 4 })
        await resumed.cancel()
        assert.deepEqual(await usedBy(before, 'u'), { hourly: 1, writes: 1, service: 1 })
      },
    ),
  }),
  ...engineCases([UNITS], {
    async 'with several units, all are charged in every layer or none'(given) {
      const { quota, other, advance, clock } = given
      const { allowed, cost } = await quota.consume(ASK)
      assert.deepEqual([allowed, cost], [true, { requests: 1, tokens: 400, money: 3_000 }])
      await inEach(other, 1, 400, 3_000)
      await advance(1_000)
      const openedAt = clock.now() - 1_000
      for (const [more, unit, resetAt] of [
        [{ requests: 5 }, 'requests', openedAt + MINUTE_MS],
        [{ tokens: 601 }, 'tokens', openedAt + MINUTE_MS],
        [{ money: 6_001 }, 'money', openedAt + HOUR_MS],
      ] as const) {
        const refused = refusal(await other.consume({ ...ASK, cost: more }))
        assert.deepEqual([refused.refusedBy.unit, refused.resetAt], [unit, resetAt])
        await inEach(quota, 1, 400, 3_000)
      }
      assert.equal((await other.consume({ ...ASK, cost: { requests: 4, tokens: 600, money: 6_000 } })).allowed, true)
      await inEach(quota, 5, 1_000, 9_000)
    },

    "with several units, all are given back when a dead holder's hold expires": needing('holds', async (given) => {
      const { quota, other, advance } = given
      const ttlMs = 20_000
      await quota.reserve({ ...ASK, ttlMs })
      const extended = held(await other.reserve({ ...ASK, cost: { tokens: 5 }, ttlMs }))
      await extended.extend(2 * ttlMs)
      const ended: unknown[] = []
      other.on('holdEnded', ({ cost }) => ended.push(cost))
      await advance(ttlMs - 1)
      await other.holds.sweep()
      await inEach(other, 2, 405, 6_000)
      assert.deepEqual(ended, [])
      await advance(1)
      await other.holds.sweep()
      assert.deepEqual(ended, [{ requests: 1, tokens: 400, money: 3_000 }])
      await inEach(other, 1, 5, 3_000)
    }),
  }),
  ...engineCases(
    [UNLIMITED],
    {
      async 'a hold grows to 2^53 - 1 and no further'({ quota, other }) {
        const most = Number.MAX_SAFE_INTEGER
        const hold = held(await quota.reserve({ subject: 'u', operation: 'work', cost: most - 1, ttlMs: 60_000 }))
        assert.equal((await hold.add(1)).allowed, true)
        for (const each of [hold, await other.resume(hold.token ?? '')]) {
          await throwsCode(() => each.add(1), 'invalid_cost')
          await throwsCode(() => each.add(most), 'invalid_cost')
        }
        assert.deepEqual(await hold.commit(1), { charged: 1, uncharged: 0 })
        assert.equal((await quota.holds.sweep()).open, 0)
      },
    },
    'holds',
  ),
  ...engineCases(
    [RUNNING],
    {
      async 'a refusal names the concurrency limit, and the slot is free when the work ends'(given) {
        const { quota, other, clock } = given
        const work = { subject: 'u', operation: 'work' } as const
        await throwsCode(() => quota.consume(work), 'reservation_required')
        const one = held(await quota.reserve(work))
        held(await other.reserve(work))
        const third = await quota.reserve(work)
        assert.ok(third.status === 'refused')
        const { refusedBy, retryAfterSeconds } = third.decision
        const { kind, name, limit, used, requested, resetAt } = refusedBy
        assert.deepEqual([kind, name, limit, used, requested], ['concurrency', 'running', 2, 2, 1])
        assert.deepEqual([resetAt, retryAfterSeconds], [clock.now() + 1_000, 1])
        assert.equal((await usedBy(quota, 'u')).hourly, 6)
        await one.commit(0)
        held(await quota.reserve(work))
        const full = await quota.reserve({ ...work, cost: 8 })
        assert.ok(full.status === 'refused')
        assert.equal(full.decision.refusedBy.kind, 'rolling', 'a window, for which waiting helps, before slots')
        assert.equal(full.decision.refusals.length, 2)
      },
    },
    'holds',
    'concurrency',
  ),
  ...engineCases(
    [DAILY],
    {
      async "after a clock stepped back over a boundary a refusal has the window's own period end"(given) {
        const { quota, other, advance, stepClock, clock } = given
        const small = { ...LOOK, cost: 4 }
        // This engine now knows the periods of today and tomorrow.
        await quota.consume({ ...LOOK, cost: 1 })
        const begun = clock.now() - (clock.now() % DAY_MS) + 2 * DAY_MS
        await advance(begun - clock.now() + 1_000)
        await other.consume({ ...LOOK, cost: 10 })
        await stepClock(-2_000)
        const refused = refusal(await quota.consume(small))
        for (const { resetAt, refusedBy, limits } of [refused, refusal(await other.peek(small))]) {
          assert.deepEqual([resetAt, refusedBy.lengthMs, limits.daily?.startedAt], [begun + DAY_MS, DAY_MS, begun])
        }
        const { daily } = (await quota.status('u')).limits
        assert.deepEqual([daily?.lengthMs, daily?.resetAt], [DAY_MS, begun + DAY_MS])
        await advance(refused.resetAt - clock.now() - 1)
        assert.equal((await quota.consume(small)).allowed, false)
        await advance(1)
        assert.equal((await quota.consume(small)).allowed, true)
      },
    },
    'calendar',
    'clock-steps',
  ),
  ...FULL_CASES,
]

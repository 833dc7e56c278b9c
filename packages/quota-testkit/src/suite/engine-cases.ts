import assert from 'node:assert/strict'
import {
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
import { HOUR_MS } from './limits.ts'
import { throwsCode } from './probe.ts'
import { casesWith, needing, type Plays, type Scene } from './scene.ts'

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
]

import assert from 'node:assert/strict'
import {
  createQuota,
  definePolicy,
  type HeldReservation,
  type Policy,
  type Quota,
  type Reservation,
} from '@scoregw/quota'
import { utcCalendar } from '../model/utc-calendar.ts'
import { abilityCase } from './abilities.ts'
import type { CaseContext, ConformanceCase, Need } from './harness.ts'
import { DAY_MS, throwsCode } from './probe.ts'

const LIMITS = {
  hourly: { by: 'personal', limit: 10, per: '1h' },
  all: { shared: 'site', limit: 1_000, per: '1h' },
} as const
const OPERATIONS = { look: { overrun: 'charge', maxOverrun: 5 }, work: { cost: 3 } } as const

/** Work that is held. */
const HELD = definePolicy({ limits: LIMITS, operations: OPERATIONS, plans: { pro: { hourly: 100 } } })
/** The same with a concurrency limit for some of it. */
const POLICY = definePolicy({
  limits: { ...LIMITS, running: { by: 'personal', concurrency: 2, for: 'work' } },
  operations: OPERATIONS,
})
const DAILY = definePolicy({
  limits: {
    daily: { by: 'personal', limit: 10, every: 'day', timeZone: 'UTC' },
    all: { shared: 'site', limit: 1_000, every: 'day', timeZone: 'UTC' },
  },
  operations: OPERATIONS,
})

interface Given extends CaseContext {
  readonly quota: Quota
  /** An engine in another process. */
  readonly other: Quota
}

function engineCase(
  name: string,
  policy: Policy,
  needs: readonly Need[],
  run: (given: Given) => Promise<void>,
): ConformanceCase {
  return abilityCase(`engine: ${name}`, needs, (context) => {
    const { store, peer, clock } = context
    const [quota, other] = [store, peer].map((each) =>
      createQuota({ policy, store: each, clock, calendar: utcCalendar, logger: false }),
    )
    assert.ok(quota !== undefined && other !== undefined)
    return run({ ...context, quota, other })
  })
}

/** Asserts that the reservation was admitted, and returns it. */
function held(reservation: Reservation): HeldReservation {
  assert.ok(reservation.status === 'reserved', `expected a reservation, got "${reservation.status}"`)
  return reservation
}

/** What is used and held of the subject's own first limit. */
async function own(quota: Quota, canHold = true): Promise<readonly [used: number, held: number]> {
  if (canHold) await quota.holds.sweep()
  const [first] = Object.values((await quota.status('u')).limits)
  return [first?.used ?? -1, first?.held ?? 0]
}

/** Listens to own limits that are near. @returns waits until there are so many, and returns them all */
function nearOf(quota: Quota): (count: number) => Promise<readonly unknown[]> {
  const near: unknown[] = []
  let added = (): void => undefined
  quota.on('nearLimit', ({ subject, limit }) => {
    if (limit.by === 'personal') near.push([subject, limit.used])
    added()
  })
  return async (count) => {
    while (near.length < count)
      await new Promise<void>((resolve) => {
        added = resolve
      })
    return near
  }
}

const SMALL = { subject: 'u', operation: 'look', cost: 4 } as const

/** Cases for engines on a store with more abilities than rolling windows. */
export const ENGINE_KIND_CASES: readonly ConformanceCase[] = [
  engineCase('a hold expires by itself unless it is extended', HELD, ['holds'], async ({ quota, advance, clock }) => {
    const one = held(await quota.reserve({ ...SMALL, ttlMs: 60_000 }))
    const two = held(await quota.reserve({ ...SMALL, ttlMs: 60_000 }))
    assert.equal(one.endsAt, clock.now() + 60_000)
    assert.deepEqual(await own(quota), [8, 8])
    await advance(30_000)
    assert.equal(await two.extend(60_000), clock.now() + 60_000)
    await advance(30_000)
    assert.deepEqual(await own(quota), [4, 4])
    await throwsCode(() => one.extend(), 'reservation_expired')
    assert.deepEqual(await two.commit(1), { charged: 1, uncharged: 0 })
    assert.deepEqual(await own(quota), [1, 0])
  }),
  engineCase('a hold grows and is committed above its amount', HELD, ['holds'], async ({ quota }) => {
    const one = held(await quota.reserve({ ...SMALL, ttlMs: 60_000 }))
    assert.equal((await one.add(7)).allowed, false)
    assert.equal((await one.add(6)).allowed, true)
    assert.deepEqual(await own(quota), [10, 10])
    assert.deepEqual(await one.commit(17), { charged: 15, uncharged: 2 })
    assert.deepEqual(await one.commit(), { charged: 15, uncharged: 2 }, 'settled once')
    assert.deepEqual(await own(quota), [15, 0])
    assert.equal((await quota.consume({ subject: 'u', operation: 'look' })).allowed, false)
    const above = held(await quota.reserve({ subject: 'v', operation: 'work', cost: 2, ttlMs: 60_000 }))
    await throwsCode(() => above.commit(3), 'commit_above_reservation')
    assert.deepEqual(await above.commit(2), { charged: 2, uncharged: 0 })
  }),
  engineCase('another process settles a hold by its token', HELD, ['holds'], async ({ quota, other }) => {
    const one = held(await quota.reserve({ ...SMALL, ttlMs: 60_000 }))
    const resumed = await other.resume(one.token ?? '')
    assert.equal((await resumed.add(2)).allowed, true)
    assert.deepEqual(await resumed.commit(3), { charged: 3, uncharged: 0 })
    assert.deepEqual(await one.commit(1), { charged: 3, uncharged: 0 }, 'answered from the record')
    assert.deepEqual(await own(quota), [3, 0])
  }),
  engineCase('a late commit crosses thresholds with all that it charges', HELD, ['holds'], async (given) => {
    const { quota, advance } = given
    const near = nearOf(quota)
    const crossed: unknown[] = []
    for (const actual of [9, 10, 15]) {
      const late = held(await quota.reserve({ ...SMALL, subject: `of ${actual}`, cost: 10, ttlMs: 60_000 }))
      await advance(60_000)
      await quota.holds.sweep()
      assert.deepEqual(await late.commit(actual), { charged: actual, uncharged: 0 })
      crossed.push([`of ${actual}`, actual])
      assert.deepEqual(await near(crossed.length), crossed)
    }
  }),
  engineCase('thresholds are crossed by what is final, in any process', HELD, ['holds'], async ({ quota, other }) => {
    const [near, elsewhere] = [quota, other].map(nearOf)
    assert.ok(near !== undefined && elsewhere !== undefined)
    const held9 = held(await quota.reserve({ ...SMALL, cost: 9, ttlMs: 60_000 }))
    await held9.commit(2)
    const held7 = held(await quota.reserve({ ...SMALL, cost: 7, ttlMs: 60_000 }))
    await quota.consume({ ...SMALL, cost: 1 })
    await held7.cancel()
    const held6 = held(await quota.reserve({ ...SMALL, cost: 6, ttlMs: 60_000 }))
    await held6.commit(5)
    assert.deepEqual(await near(1), [['u', 8]])
    const resumed = held(await quota.reserve({ ...SMALL, subject: 'v', cost: 9, ttlMs: 60_000 }))
    await (await other.resume(resumed.token ?? '')).commit(8)
    assert.deepEqual(await elsewhere(1), [['v', 8]])
    await quota.consume({ subject: 'w', operation: 'look', cost: 8 })
    assert.deepEqual(await near(2), [
      ['u', 8],
      ['w', 8],
    ])
  }),
  engineCase('an overrun is reported once, with the commit that settled', HELD, ['holds'], async ({ quota, other }) => {
    const overruns: unknown[] = []
    for (const each of [quota, other])
      each.on('overrun', ({ charged, uncharged }) => overruns.push([charged, uncharged]))
    const one = held(await quota.reserve({ ...SMALL, ttlMs: 60_000 }))
    const holders = [one, await quota.resume(one.token ?? ''), await other.resume(one.token ?? '')]
    for (const holder of holders) assert.deepEqual(await holder.commit(12), { charged: 9, uncharged: 3 })
    assert.deepEqual(overruns, [[9, 3]])
  }),
  engineCase('open holds are listed, and an administrator releases one', HELD, ['holds'], async ({ quota, other }) => {
    const one = held(await quota.reserve({ ...SMALL, ttlMs: 60_000 }))
    const [hold, ...more] = await other.holds.list('u')
    assert.deepEqual([hold?.tokens, hold?.operation, hold?.endsAt, more], [4, 'look', one.endsAt, []])
    await other.holds.release('u', hold?.ref ?? '')
    assert.deepEqual(await own(quota), [0, 0])
    await throwsCode(() => one.commit(), 'reservation_cancelled')
  }),
  engineCase(
    'a refusal names the concurrency limit, and the slot is free when the work ends',
    POLICY,
    ['holds', 'concurrency'],
    async (given) => {
      const { quota, other, clock } = given
      const work = { subject: 'u', operation: 'work' } as const
      await throwsCode(() => quota.consume(work), 'reservation_required')
      const one = held(await quota.reserve(work))
      held(await other.reserve(work))
      const third = await quota.reserve(work)
      assert.ok(third.status === 'refused')
      const { refusedBy, retryAfterSeconds } = third.decision
      assert.deepEqual(
        [
          refusedBy.kind,
          refusedBy.name,
          refusedBy.limit,
          refusedBy.used,
          refusedBy.requested,
          refusedBy.resetAt,
          retryAfterSeconds,
        ],
        ['concurrency', 'running', 2, 2, 1, clock.now() + 1_000, 1],
      )
      assert.deepEqual(await own(quota), [6, 6])
      await one.commit(0)
      held(await quota.reserve(work))
      const full = await quota.reserve({ ...work, cost: 8 })
      assert.ok(full.status === 'refused')
      assert.equal(full.decision.refusedBy.kind, 'rolling', 'a window, for which waiting helps, before slots')
      assert.equal(full.decision.refusals.length, 2)
    },
  ),
  engineCase(
    'a calendar limit refuses exactly until its reset',
    DAILY,
    ['calendar'],
    async ({ quota, advance, clock }) => {
      await quota.consume({ ...SMALL, cost: 10 })
      const refused = await quota.consume(SMALL)
      assert.ok(!refused.allowed)
      const { resetAt, refusedBy } = refused
      assert.deepEqual([refusedBy.kind, refusedBy.lengthMs, resetAt % DAY_MS], ['calendar', DAY_MS, 0])
      await advance(resetAt - clock.now() - 1)
      assert.equal((await quota.consume(SMALL)).allowed, false)
      await advance(1)
      const admitted = await quota.consume(SMALL)
      assert.ok(admitted.allowed)
      const { daily: day } = admitted.limits
      assert.deepEqual([day?.startedAt, day?.used, day?.resetAt], [resetAt, 4, resetAt + DAY_MS])
    },
  ),
  engineCase(
    "after a clock stepped back over a boundary a refusal has the window's own period end",
    DAILY,
    ['calendar', 'clock-steps'],
    async ({ quota, other, advance, stepClock, clock }) => {
      // This engine now knows the periods of today and tomorrow.
      await quota.consume({ ...SMALL, cost: 1 })
      const begun = clock.now() - (clock.now() % DAY_MS) + 2 * DAY_MS
      await advance(begun - clock.now() + 1_000)
      await other.consume({ ...SMALL, cost: 10 })
      await stepClock(-2_000)
      const refused = await quota.consume(SMALL)
      const foreseen = await other.peek(SMALL)
      assert.ok(!refused.allowed && !foreseen.allowed)
      for (const { resetAt, refusedBy, limits } of [refused, foreseen]) {
        assert.deepEqual([resetAt, refusedBy.lengthMs, limits.daily?.startedAt], [begun + DAY_MS, DAY_MS, begun])
      }
      const { daily: day } = (await quota.status('u')).limits
      assert.deepEqual([day?.lengthMs, day?.resetAt], [DAY_MS, begun + DAY_MS])
      await advance(refused.resetAt - clock.now() - 1)
      assert.equal((await quota.consume(SMALL)).allowed, false)
      await advance(1)
      assert.equal((await quota.consume(SMALL)).allowed, true)
    },
  ),
  engineCase('a free decision has the current period', DAILY, ['calendar'], async ({ quota, advance }) => {
    for (let week = 0; week < 2; week++) {
      const { limits } = await quota.consume({ ...SMALL, cost: 0 })
      assert.deepEqual([limits.daily?.kind, limits.daily?.lengthMs], ['calendar', DAY_MS])
      await advance(7 * DAY_MS)
    }
  }),
  engineCase('a shadowed limit is charged and reported and refuses nobody', HELD, [], async ({ quota }) => {
    await quota.settings.update({ shadow: { hourly: true } })
    await quota.consume({ ...SMALL, cost: 8 })
    const decision = await quota.consume(SMALL)
    assert.equal(decision.allowed, true)
    assert.deepEqual(
      decision.shadowed.map(({ name, used, limit }) => [name, used, limit]),
      [['hourly', 8, 10]],
    )
    assert.deepEqual(await own(quota, false), [12, 0])
    await quota.settings.update({ shadow: { hourly: null } })
    assert.equal((await quota.consume(SMALL)).allowed, false)
  }),
]

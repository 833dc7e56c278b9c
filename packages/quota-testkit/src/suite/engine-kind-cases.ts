import assert from 'node:assert/strict'
import { definePolicy, type HeldReservation, type Policy, type Quota, type Reservation } from '@scoregw/quota'
import { abilityCase, type CaseOf, enginesOn } from './abilities.ts'
import type { CaseContext, Need } from './harness.ts'
import type { ContextCase } from './old-case.ts'
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

function engineCaseOf(policy: Policy, ...needs: readonly Need[]): CaseOf<Given> {
  return (name, run) =>
    abilityCase(`engine: ${name}`, needs, (context) => {
      const [quota, other] = enginesOn(context, policy)
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

const SMALL = { subject: 'u', operation: 'look', cost: 4 } as const

/** Cases for engines on a store with more abilities than rolling windows. */
export const ENGINE_KIND_CASES: readonly ContextCase[] = [
  engineCaseOf(HELD, 'holds')('a hold expires by itself unless it is extended', async ({ quota, advance, clock }) => {
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
  engineCaseOf(HELD, 'holds')('another process settles a hold by its token', async ({ quota, other }) => {
    const one = held(await quota.reserve({ ...SMALL, ttlMs: 60_000 }))
    const resumed = await other.resume(one.token ?? '')
    assert.equal((await resumed.add(2)).allowed, true)
    assert.deepEqual(await resumed.commit(3), { charged: 3, uncharged: 0 })
    assert.deepEqual(await one.commit(1), { charged: 3, uncharged: 0 }, 'answered from the record')
    assert.deepEqual(await own(quota), [3, 0])
  }),
  engineCaseOf(
    POLICY,
    'holds',
    'concurrency',
  )('a refusal names the concurrency limit, and the slot is free when the work ends', async (given) => {
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
  }),
  engineCaseOf(DAILY, 'calendar')(
    'a calendar limit refuses exactly until its reset',
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
  engineCaseOf(
    DAILY,
    'calendar',
    'clock-steps',
  )(
    "after a clock stepped back over a boundary a refusal has the window's own period end",
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
]

import assert from 'node:assert/strict'
import { createQuota, memorySettings, type Policy, parsePolicy, type Quota, type Subject } from '@scoregw/quota'
import { abilityCase, usedBy } from './abilities.ts'
import type { CaseContext, ConformanceCase } from './harness.ts'
import { plainCase } from './port-harness.ts'
import { HOUR_MS } from './probe.ts'

const OPERATIONS = {
  look: { category: 'read' },
  save: { category: 'write', cost: 3 },
  ping: { cost: 0, free: true },
}

const HOURLY = { by: 'user', limit: 10, per: '1h' }
const WRITES = { by: 'user', limit: 6, per: '1h', for: 'write' }
const SERVICE = { shared: 'service', limit: 1_000, per: '1h' }

/** Every operation, and writes once more. */
const BEFORE = parsePolicy({ limits: { hourly: HOURLY, writes: WRITES, service: SERVICE }, operations: OPERATIONS })
/** `hourly` has another name, and `writes` counts other operations. */
const AFTER = parsePolicy({
  limits: { perHour: { ...HOURLY, formerly: 'hourly' }, writes: { ...WRITES, for: 'read' }, service: SERVICE },
  operations: OPERATIONS,
})
const TEAMS = parsePolicy({
  limits: { own: HOURLY, team: { by: 'team', limit: 12, per: '1h' }, service: SERVICE },
  operations: OPERATIONS,
})

/** Two processes with the same counters and settings, and maybe two policies. */
function enginesOn({ store, peer, clock }: CaseContext, one: Policy, other = one): readonly [Quota, Quota] {
  const [settingsStore, logger] = [memorySettings(), false as const]
  return [
    createQuota({ policy: one, store, settingsStore, clock, logger }),
    createQuota({ policy: other, store: peer, settingsStore, clock, logger }),
  ]
}

async function isAllowed(quota: Quota, operation: string, more: object = {}, subject: Subject = 'u'): Promise<boolean> {
  return (await quota.consume({ subject, operation, ...more })).allowed
}

/** Cases for engines about what only names can say. */
export const ENGINE_NAME_CASES: readonly ConformanceCase[] = [
  plainCase('engine: a limit of all operations stands beside one of some of them', async (context) => {
    const [quota] = enginesOn(context, BEFORE)
    assert.deepEqual([await isAllowed(quota, 'save'), await isAllowed(quota, 'save')], [true, true])
    const refused = await quota.consume({ subject: 'u', operation: 'save' })
    assert.ok(!refused.allowed)
    assert.deepEqual(
      [refused.refusals.map(({ name }) => name), Object.keys(refused.limits)],
      [['writes'], ['hourly', 'writes', 'service']],
    )
    for (let look = 0; look < 4; look++) assert.equal(await isAllowed(quota, 'look'), true)
    const full = await quota.consume({ subject: 'u', operation: 'look' })
    assert.ok(!full.allowed)
    assert.deepEqual([full.refusedBy.name, Object.keys(full.limits)], ['hourly', ['hourly', 'service']])
    assert.deepEqual(await usedBy(quota, 'u'), { hourly: 10, writes: 6, service: 10 })
  }),
  plainCase('engine: a number of the request applies to it alone, with the same counter', async (context) => {
    const [quota, other] = enginesOn(context, BEFORE)
    const numbers = (hourly: number | null) => ({ limits: { hourly, unknown: 1 } })
    for (let look = 0; look < 5; look++) assert.equal(await isAllowed(quota, 'look', numbers(5)), true)
    assert.equal(await isAllowed(quota, 'look', numbers(5)), false)
    assert.equal(await isAllowed(other, 'look', numbers(6)), true)
    assert.equal(await isAllowed(other, 'look', numbers(6)), false)
    assert.equal(await isAllowed(quota, 'look', numbers(null)), true)
    const { limits } = await quota.status('u', { limits: { hourly: 20 } })
    assert.deepEqual([limits.hourly?.limit, limits.hourly?.used, limits.hourly?.from], [20, 7, 'request'])
    await quota.subjects.set('u', { limits: { hourly: 7 } })
    assert.equal(await isAllowed(other, 'look', numbers(100)), false, 'what is stored wins')
  }),
  plainCase('engine: layers in which a subject has no key are left out', async (context) => {
    const [quota] = enginesOn(context, TEAMS)
    const [both, alone, team] = [
      { user: 'ann', team: 'x' },
      { user: 'ann', team: null },
      { user: null, team: 'x' },
    ]
    assert.equal(await isAllowed(quota, 'look', { cost: 4 }, both), true)
    const decision = await quota.consume({ subject: alone, operation: 'look', cost: 5 })
    assert.deepEqual([decision.allowed, Object.keys(decision.limits)], [true, ['own', 'service']])
    assert.equal(await isAllowed(quota, 'look', { cost: 8 }, team), true)
    assert.deepEqual(await usedBy(quota, both), { own: 9, team: 12, service: 17 })
    assert.deepEqual(await usedBy(quota, alone), { own: 9, service: 17 })
    assert.deepEqual(await usedBy(quota, team), { team: 12, service: 17 })
    assert.deepEqual(
      [await isAllowed(quota, 'look', {}, both), await isAllowed(quota, 'look', {}, alone)],
      [false, true],
    )
  }),
  plainCase('engine: a blocked subject is refused everything until the block ends', async (context) => {
    const { clock, advance } = context
    const [quota, other] = enginesOn(context, BEFORE)
    await isAllowed(quota, 'look')
    const until = clock.now() + HOUR_MS
    await other.subjects.set('u', { blocked: true, until: { blocked: until } })
    for (const operation of ['look', 'ping', 'save']) {
      const [refused, foreseen] = [
        await quota.consume({ subject: 'u', operation }),
        await quota.peek({ subject: 'u', operation }),
      ]
      for (const decision of [refused, foreseen]) {
        assert.ok(!decision.allowed, operation)
        const { source, retryable, resetAt, refusedBy } = decision
        assert.deepEqual([source, retryable, resetAt, refusedBy.limit], ['blocked', true, until, 0], operation)
      }
    }
    assert.equal((await quota.reserve({ subject: 'u', operation: 'look' })).status, 'refused')
    assert.equal(await isAllowed(quota, 'look', {}, 'v'), true)
    assert.deepEqual(await usedBy(quota, 'u'), { hourly: 1, writes: 0, service: 2 })
    await advance(until - clock.now())
    assert.equal(await isAllowed(quota, 'ping'), true)
    assert.equal(await isAllowed(quota, 'look'), true)
    await other.subjects.set('u', { blocked: true })
    const forever = await quota.consume({ subject: 'u', operation: 'look' })
    assert.ok(!forever.allowed)
    assert.deepEqual([forever.retryable, forever.retryAfterSeconds], [false, null])
  }),
  plainCase('engine: counter and stored numbers of a limit go on under its new name', async (context) => {
    const [before, after] = enginesOn(context, BEFORE, AFTER)
    await before.settings.update({ limits: { hourly: 8 } })
    await before.subjects.set('v', { limits: { hourly: 3 } })
    for (const subject of ['u', 'v']) assert.equal(await isAllowed(before, 'look', { cost: 3 }, subject), true)
    const [{ limits: own }, { limits: stored }] = [await after.status('u'), await after.status('v')]
    assert.deepEqual([own.perHour?.limit, own.perHour?.used], [8, 3])
    assert.deepEqual([stored.perHour?.limit, stored.perHour?.used, stored.perHour?.from], [3, 3, 'subject'])
    assert.equal(await isAllowed(after, 'look', { cost: 6 }), false)
    assert.equal(await isAllowed(after, 'look', { cost: 5 }), true)
    assert.equal(await isAllowed(before, 'look'), false)
    await after.reset('u', { limits: ['perHour'] })
    assert.deepEqual(await usedBy(before, 'u'), { hourly: 0, writes: 5, service: 11 })
  }),
  abilityCase('engine: a hold is settled in the limits that it was charged in', 'holds', async (context) => {
    const [before, after] = enginesOn(context, BEFORE, AFTER)
    const saved = await before.reserve({ subject: 'u', operation: 'save', ttlMs: 60_000 })
    const looked = await before.reserve({ subject: 'u', operation: 'look', ttlMs: 60_000 })
    assert.ok(saved.status === 'reserved' && looked.status === 'reserved')
    assert.deepEqual(await usedBy(after, 'u'), { perHour: 4, writes: 3, service: 4 })
    const resumed = await after.resume(looked.token ?? '')
    assert.equal((await resumed.add(2)).allowed, true)
    assert.deepEqual(await usedBy(after, 'u'), { perHour: 6, writes: 5, service: 6 }, 'it grows where reads count now')
    await (await after.resume(saved.token ?? '')).commit(1)
    assert.deepEqual(await usedBy(after, 'u'), { perHour: 4, writes: 3, service: 4 })
    await resumed.cancel()
    assert.deepEqual(await usedBy(before, 'u'), { hourly: 1, writes: 1, service: 1 })
  }),
]

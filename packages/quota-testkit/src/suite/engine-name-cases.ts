import assert from 'node:assert/strict'
import { parsePolicy, type Quota } from '@scoregw/quota'
import { abilityCase, enginesOn, usedBy } from './abilities.ts'
import type { ContextCase } from './old-case.ts'
import { plainCase } from './old-case.ts'

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

async function isAllowed(quota: Quota, operation: string, more: object = {}): Promise<boolean> {
  return (await quota.consume({ subject: 'u', operation, ...more })).allowed
}

/** Cases for engines about what only names can say. */
export const ENGINE_NAME_CASES: readonly ContextCase[] = [
  plainCase('engine: counter and stored numbers of a limit go on under its new name', async (context) => {
    const [before, after] = enginesOn(context, BEFORE, AFTER)
    await before.settings.update({ limits: { hourly: 8 } })
    await before.subjects.set('v', { limits: { hourly: 3 } })
    for (const subject of ['u', 'v']) assert.equal(await isAllowed(before, 'look', { cost: 3, subject }), true)
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

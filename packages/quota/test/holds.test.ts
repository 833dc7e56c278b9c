import { openTimers } from '@scoregw/server-kit'
import { afterEach, describe, expect, it, vi } from 'vitest'
import {
  createQuota,
  definePolicy,
  type MemoryStore,
  memorySettings,
  memoryStore,
  type Quota,
  type QuotaOptions,
  type Reservation,
} from '../src/index.ts'
import { asyncStore, START, type TestClock, testClock } from './support.ts'

const MINUTE = 60_000

const perHour = { by: 'user', limit: 500, per: '1h' } as const
const operations = {
  ask: { cost: 75, overrun: 'charge', maxOverrun: 100 },
  fit: { cost: 75, overrun: 'fit', maxOverrun: 100 },
  plain: { cost: 75 },
} as const
const policy = definePolicy({ operations, limits: { perHour } })

const slots = definePolicy({ operations, limits: { perHour, running: { by: 'user', concurrency: 2, for: 'ask' } } })

const everybodysSlots = definePolicy({
  operations,
  limits: { perHour, running: { shared: 'all', concurrency: 2, for: 'ask' } },
})

interface Fixture {
  readonly clock: TestClock
  readonly store: MemoryStore
  readonly quota: Quota
}

function engine(isSync: boolean, options: Partial<QuotaOptions> = {}): Fixture {
  const clock = testClock()
  const store = memoryStore({ clock })
  const quota = createQuota({ policy, clock, store: isSync ? store : asyncStore(store), ...options } as QuotaOptions)
  return { clock, store, quota }
}

type Held = Extract<Reservation, { status: 'reserved' }>

async function held(quota: Quota, more: object = {}): Promise<Held> {
  const reservation = await quota.reserve({ subject: 'u', operation: 'ask', ttlMs: MINUTE, ...more })
  if (reservation.status !== 'reserved') throw new Error(`not held: ${reservation.status}`)
  return reservation
}

async function used(quota: Quota): Promise<number> {
  return (await quota.status('u')).limits.perHour!.used
}

afterEach(() => void vi.useRealTimers())

describe.each([
  ['whose store answers at once', true],
  ['whose store answers later', false],
])('holds of an engine %s', (_, isSync) => {
  it('twenty concurrent holds of 75 tokens under a limit of 500 give six admissions', async () => {
    const { quota } = engine(isSync)
    const all = await Promise.all(
      Array.from({ length: 20 }, () => quota.reserve({ subject: 'u', operation: 'ask', ttlMs: MINUTE })),
    )
    expect(all.filter(({ allowed }) => allowed)).toHaveLength(6)
    expect(await used(quota)).toBe(450)
  })

  it('a hold has a slot only if an enabled layer limits concurrency', async () => {
    const { quota } = engine(isSync, { policy: everybodysSlots })
    await quota.settings.update({ shared: { all: { enabled: false } } })
    await held(quota)
    expect((await quota.holds.list('u')).map(({ slot }) => slot)).toEqual([false])
    await quota.settings.update({ shared: { all: { enabled: true } } })
    await held(quota)
    expect((await quota.holds.list('u')).map(({ slot }) => slot)).toEqual([false, true])
    expect((await quota.status('u')).limits.running).toMatchObject({ used: 1 })
  })

  it('a hold’s tokens come back when it expires and not a millisecond earlier', async () => {
    const { quota, clock } = engine(isSync)
    const hold = await held(quota)
    expect(hold.endsAt).toBe(START + MINUTE)
    clock.at += MINUTE - 1
    expect(await used(quota)).toBe(75)
    clock.at += 1
    expect(await used(quota)).toBe(0)
    clock.at -= 10
    expect(await used(quota)).toBe(0)
  })

  it('a hold appears in status() and holds.list(), and can be released', async () => {
    const { quota } = engine(isSync)
    await quota.consume({ subject: 'u', operation: 'plain' })
    await held(quota)
    expect((await quota.status('u')).limits.perHour).toMatchObject({ used: 150, held: 75 })
    const [hold] = await quota.holds.list('u')
    expect(hold).toMatchObject({ operation: 'ask', tokens: 75, slot: false, takenAt: START })
    expect(await quota.holds.release('u', hold!.ref)).toBe(true)
    expect(await quota.holds.release('u', hold!.ref)).toBe(false)
    expect((await quota.status('u')).limits.perHour).not.toHaveProperty('held')
    expect(await used(quota)).toBe(75)
  })

  it('extend() counts from now, never shortens a hold, and fails after its end', async () => {
    const { quota, clock } = engine(isSync)
    const hold = await held(quota)
    clock.at += 30_000
    expect(await hold.extend()).toBe(START + 90_000)
    expect(await hold.extend(1)).toBe(START + 90_000)
    expect(hold.endsAt).toBe(START + 90_000)
    clock.at = START + 90_000
    const message = expect.stringContaining('its tokens went back')
    await expect(hold.extend()).rejects.toMatchObject({ code: 'reservation_expired', message })
    await expect(hold.add(1)).rejects.toMatchObject({ code: 'reservation_expired' })
  })

  it('add() adds all of an amount to a hold or nothing', async () => {
    const { quota } = engine(isSync)
    const hold = await held(quota)
    expect(await hold.add(425)).toMatchObject({ allowed: true, cost: 425 })
    expect(await hold.add(1)).toMatchObject({ allowed: false, refusedBy: { used: 500, requested: 1 } })
    // More than a hold can have.
    expect(await hold.add(Number.MAX_SAFE_INTEGER)).toMatchObject({ allowed: false, refusedBy: { used: 500 } })
    expect(await hold.commit(499)).toEqual({ charged: 499, uncharged: 0 })
    expect(await used(quota)).toBe(499)
  })

  it('a commit above the hold is charged as the operation’s overrun says', async () => {
    const { quota } = engine(isSync)
    expect(await (await held(quota)).commit(300)).toEqual({ charged: 175, uncharged: 125 })
    expect(await used(quota)).toBe(175)
    expect(await (await held(quota, { operation: 'fit', cost: 300 })).commit(400)).toEqual({
      charged: 325,
      uncharged: 75,
    })
    expect(await used(quota)).toBe(500)
  })

  it('an overrun may leave a debt that delays later requests', async () => {
    const { quota } = engine(isSync)
    const hold = await held(quota, { cost: 500 })
    expect(await hold.commit(590)).toEqual({ charged: 590, uncharged: 0 })
    expect(await quota.consume({ subject: 'u', operation: 'plain', cost: 1 })).toMatchObject({ allowed: false })
    expect(await used(quota)).toBe(590)
  })

  it('a reservation without overrun rejects a commit above it and stays open', async () => {
    const { quota } = engine(isSync)
    const hold = await held(quota, { operation: 'plain' })
    await expect(hold.commit(76)).rejects.toMatchObject({ code: 'commit_above_reservation' })
    expect(await hold.commit(75)).toEqual({ charged: 75, uncharged: 0 })
  })

  it('a commit after the hold’s end is a new charge where the operation charges an overrun', async () => {
    const { quota, clock } = engine(isSync)
    const hold = await held(quota)
    clock.at += MINUTE
    expect(await used(quota)).toBe(0)
    expect(await hold.commit(400)).toEqual({ charged: 175, uncharged: 225 })
    expect(await hold.commit(400)).toEqual({ charged: 175, uncharged: 225 })
    expect(await used(quota)).toBe(175)
    const other = await held(quota, { operation: 'plain' })
    clock.at += MINUTE
    await expect(other.commit()).rejects.toMatchObject({ code: 'reservation_expired' })
    await other.cancel()
    expect(await used(quota)).toBe(175)
  })

  it('a hold is settled once, and concurrent calls share a promise', async () => {
    const { quota } = engine(isSync)
    const hold = await held(quota)
    expect(await Promise.all([hold.commit(50), hold.commit(60)])).toEqual([
      { charged: 50, uncharged: 0 },
      { charged: 50, uncharged: 0 },
    ])
    await hold.cancel()
    expect(await used(quota)).toBe(50)
  })

  it('another engine with the policy can resume a hold by its token', async () => {
    const { quota, store, clock } = engine(isSync)
    const hold = await held(quota)
    const other = createQuota({ policy, clock, store })
    const resumed = await other.resume(hold.token!)
    expect(resumed).toMatchObject({ status: 'resumed', subject: 'u', operation: 'ask', endsAt: START + MINUTE })
    expect(await resumed.commit(20)).toEqual({ charged: 20, uncharged: 0 })
    expect(await hold.commit()).toEqual({ charged: 20, uncharged: 0 })
    const message = expect.stringContaining('was already committed or cancelled')
    const again = await other.resume(hold.token!)
    await expect(again.extend()).rejects.toMatchObject({ code: 'reservation_expired', message })
    clock.at += 700_000
    await expect(other.resume(hold.token!)).rejects.toMatchObject({ code: 'reservation_expired' })
  })

  it('a hold that was cancelled elsewhere rejects a commit', async () => {
    const { quota } = engine(isSync)
    const hold = await held(quota)
    await (await quota.resume(hold.token!)).cancel()
    await expect(hold.commit()).rejects.toMatchObject({ code: 'reservation_cancelled' })
  })

  it.each(['', 'hold1.', 'hold1.e30', 'nonsense', 5, null, undefined])(
    'resume() rejects the token %j',
    async (token) => {
      const { quota } = engine(isSync)
      await expect(quota.resume(token as string)).rejects.toMatchObject({ code: 'invalid_token' })
    },
  )

  it.each([
    ['is longer than any that an engine makes', ['u'.repeat(7_000), 'ask', null, null, 'i', 'n', 'ask:75', false, 1]],
    [
      'has a burst that is no number',
      ['u', 'ask', null, { perHour: { limit: 5, burst: '5' } }, 'i', 'n', 'f', false, 1],
    ],
  ])('resume() rejects a token that %s', async (_, fields) => {
    const { quota } = engine(isSync)
    const units = Buffer.from(JSON.stringify(fields), 'utf16le').swap16()
    await expect(quota.resume(`hold2.${units.toString('base64url')}`)).rejects.toMatchObject({ code: 'invalid_token' })
  })

  it('a list of holds has names of operations with colons as they are', async () => {
    const quota = createQuota({ policy: definePolicy({ operations: { 'ask:again': {} }, limits: { perHour } }) })
    await quota.reserve({ subject: 'u', operation: 'ask:again', ttlMs: 60_000 })
    expect((await quota.holds.list('u')).map(({ operation }) => operation)).toEqual(['ask:again'])
  })

  it('a hold of another policy isn’t taken for one of this policy', async () => {
    const { quota } = engine(isSync)
    const other = definePolicy({ operations: { chat: {} }, limits: { perHour } })
    const { token } = await held(quota)
    await expect(createQuota({ policy: other }).resume(token!)).rejects.toMatchObject({ code: 'invalid_token' })
  })

  it.each([0, -1, 0.5, 86_400_001, 365 * 86_400_000, Number.NaN, '1'])('a hold can’t last %j ms', async (ttlMs) => {
    const { quota } = engine(isSync)
    const request = { subject: 'u', operation: 'ask', ttlMs: ttlMs as number }
    await expect(quota.reserve(request)).rejects.toMatchObject({ code: 'invalid_ttl' })
    await expect((await held(quota)).extend(ttlMs as number)).rejects.toMatchObject({ code: 'invalid_ttl' })
  })

  it('a subject can have only a limited number of holds', async () => {
    const { quota, clock } = engine(isSync, { maxHolds: 2 })
    await held(quota, { cost: 1 })
    await held(quota, { cost: 1 })
    await expect(held(quota, { cost: 1 })).rejects.toMatchObject({ code: 'too_many_holds' })
    clock.at += MINUTE
    await held(quota, { cost: 1 })
  })

  it('an expired hold under an id answers a repeat with its status', async () => {
    const { quota, clock } = engine(isSync, { createNonce: () => 'same' })
    await held(quota, { id: 'x' })
    clock.at += MINUTE
    expect(await quota.reserve({ subject: 'u', operation: 'ask', ttlMs: MINUTE, id: 'x' })).toMatchObject({
      status: 'expired',
    })
  })

  it('a reservation without a time to live can’t be extended or grown', async () => {
    const { quota } = engine(isSync)
    const reservation = (await quota.reserve({ subject: 'u', operation: 'plain' })) as Held
    expect(reservation.token).toBeUndefined()
    await expect(reservation.extend()).rejects.toMatchObject({ code: 'hold_required' })
    await expect(reservation.add(1)).rejects.toMatchObject({ code: 'hold_required' })
  })

  it('run() keeps a hold alive while the work lasts', async () => {
    vi.useFakeTimers()
    const timers = openTimers(['reservations/handle.ts'])
    const { quota, clock } = engine(isSync)
    const result = await quota.run({ subject: 'u', operation: 'ask', ttlMs: MINUTE }, async () => {
      for (let minute = 0; minute < 10; minute++) {
        clock.at += 20_000
        await vi.advanceTimersByTimeAsync(20_000)
      }
      return [await used(quota), timers()]
    })
    expect(result).toMatchObject({ allowed: true, value: [75, 1] })
    clock.at += MINUTE
    expect(await used(quota)).toBe(75)
    expect(timers()).toBe(0)
  })

  it('run() extends again after a failure, until the hold has ended or is settled', async () => {
    vi.useFakeTimers()
    const timers = openTimers(['reservations/handle.ts'])
    const clock = testClock()
    let isCut = false
    const store = asyncStore(memoryStore({ clock }), async () => {
      if (isCut) throw new Error('cut off')
    })
    const quota = createQuota({ policy, clock, store, logger: false })
    const turn = async (ms: number): Promise<void> => {
      clock.at += ms
      await vi.advanceTimersByTimeAsync(ms)
    }
    const hold = { subject: 'u', operation: 'ask', ttlMs: MINUTE } as const
    await quota.run(hold, async () => {
      isCut = true
      await turn(20_000)
      isCut = false
      await turn(20_000)
      clock.at += MINUTE - 1
      expect([await used(quota), timers()]).toEqual([75, 1])
      clock.at += 1
      await vi.advanceTimersByTimeAsync(20_000)
      expect(timers()).toBe(0)
    })
    await quota.run(hold, async (reservation) => {
      await reservation.commit()
      await turn(20_000)
      expect(timers()).toBe(0)
    })
    await quota.close()
  })

  it('the end of a hold and its overrun are reported', async () => {
    const { quota, clock } = engine(isSync)
    const events: unknown[] = []
    quota.on('holdEnded', (end) => events.push(end))
    quota.on('overrun', (overrun) => events.push(overrun))
    const above = await held(quota)
    await above.commit(200)
    // A repeat charges nothing, and so reports nothing.
    await (await quota.resume(above.token!)).commit(200)
    await held(quota)
    clock.at += MINUTE
    expect((await quota.holds.sweep()).open).toBe(0)
    expect(events).toEqual([
      { subject: 'u', operation: 'ask', charged: 175, uncharged: 25, reserved: 75 },
      { operation: 'ask', owner: 'u', tokens: 75, endsAt: START + MINUTE },
    ])
    await quota.close()
  })

  it('a snapshot restores open holds', async () => {
    const { quota, store, clock } = engine(isSync)
    const hold = await held(quota)
    const parts = JSON.parse(JSON.stringify([...store.snapshot()])) as unknown[]
    const other = engine(isSync)
    other.clock.at = clock.at
    for (const part of parts) other.store.restore(part)
    expect(await used(other.quota)).toBe(75)
    expect(await (await other.quota.resume(hold.token!)).commit(30)).toEqual({ charged: 30, uncharged: 0 })
    const third = engine(isSync)
    for (const part of parts) third.store.restore(part)
    third.clock.at += MINUTE
    expect(await used(third.quota)).toBe(0)
  })

  it('a snapshot part doesn’t change when its holds are extended, grown and committed', async () => {
    const { quota, store } = engine(isSync)
    const hold = await held(quota)
    const parts = [...store.snapshot()]
    const before = JSON.stringify(parts)
    await hold.extend(2 * MINUTE)
    await hold.add(5)
    await hold.commit(30)
    expect(JSON.stringify(parts)).toBe(before)
  })
})

describe.each([
  ['whose store answers at once', true],
  ['whose store answers later', false],
])('concurrency in an engine %s', (_, isSync) => {
  const running = async (quota: Quota): Promise<number> => (await quota.status('u')).limits.running!.used

  it('a reservation takes one slot, and each way to settle it frees the slot', async () => {
    const { quota } = engine(isSync, { policy: slots })
    const first = await held(quota, { ttlMs: undefined })
    const second = await held(quota, { ttlMs: undefined })
    const third = await quota.reserve({ subject: 'u', operation: 'ask' })
    expect(third.decision).toMatchObject({
      allowed: false,
      retryAfterSeconds: 1,
      refusedBy: { kind: 'concurrency', name: 'running', lengthMs: null, limit: 2, used: 2, requested: 1 },
    })
    await first.commit()
    await second.cancel()
    expect(await running(quota)).toBe(0)
    expect(await used(quota)).toBe(75)
  })

  it('a slot is freed when its hold expires and not by a reset', async () => {
    const { quota, clock } = engine(isSync, { policy: slots, holdTtlMs: 5_000 })
    await held(quota, { ttlMs: undefined })
    await quota.reset('u')
    expect(await running(quota)).toBe(1)
    expect(await used(quota)).toBe(0)
    clock.at += 5_000
    expect(await running(quota)).toBe(0)
  })

  it('windows are checked before concurrency, and a full window is what a refusal reports', async () => {
    const { quota } = engine(isSync, { policy: slots })
    await held(quota, { cost: 250 })
    await held(quota, { cost: 250 })
    const { decision } = await quota.reserve({ subject: 'u', operation: 'ask', cost: 1 })
    expect(decision).toMatchObject({ allowed: false, refusedBy: { name: 'perHour' } })
    expect(decision).toHaveProperty('refusals.length', 2)
  })

  it('operations without a concurrency limit take no slot, and limited ones reject consume()', async () => {
    const { quota } = engine(isSync, { policy: slots })
    expect(await quota.consume({ subject: 'u', operation: 'plain' })).toMatchObject({ allowed: true })
    await expect(quota.consume({ subject: 'u', operation: 'ask' })).rejects.toMatchObject({
      code: 'reservation_required',
    })
    expect(await running(quota)).toBe(0)
  })

  it('a concurrency limit requires a store with holds', () => {
    const { open } = memoryStore()
    const store = { sync: true as const, open }
    expect(() => createQuota({ policy: slots, store })).toThrow(expect.objectContaining({ code: 'store_unsupported' }))
    expect(() => createQuota({ policy, store, settingsStore: memorySettings() })).toThrow(
      expect.objectContaining({ code: 'store_unsupported' }),
    )
  })
})

import { describe, expect, it } from 'vitest'
import { luxonCalendar } from '../src/calendar.ts'
import { createQuota, definePolicy, memoryStore } from '../src/index.ts'
import type { Threshold } from '../src/internal.ts'
import { flatLimits, type Gateway, gateway, HOUR, testClock } from './support.ts'

function heard(thresholds?: readonly Threshold<Gateway>[]) {
  const made = gateway({ thresholds })
  const near: string[] = []
  made.quota.on('nearLimit', ({ subject, threshold, limit: { name, used, limit } }) =>
    near.push(`${subject} ${name} ${used}/${limit} ${JSON.stringify(threshold)}`),
  )
  const consume = (cost: number, subject = 'u') => made.quota.consumeSync({ subject, operation: 'write', cost })
  return { ...made, near, consume }
}

describe('near limits', () => {
  it('nearLimit is emitted at 80 % by default', () => {
    const { near, consume } = heard()
    consume(47)
    expect(near).toEqual([])
    consume(1)
    consume(1)
    expect(near).toEqual(['u personal-write-1h 48/60 {"share":0.8}'])
  })

  it('nearLimit is emitted for each threshold that a charge crosses, in the given order', () => {
    const { near, consume } = heard([{ share: 0.5 }, { left: 10 }, { share: 1 }])
    consume(30)
    consume(19)
    expect(near).toEqual(['u personal-write-1h 30/60 {"share":0.5}'])
    consume(11)
    expect(near.slice(1)).toEqual(['u personal-write-1h 60/60 {"left":10}', 'u personal-write-1h 60/60 {"share":1}'])
  })

  it('nearLimit is emitted again after tokens came back and in each new window', () => {
    const { quota, clock, near, consume } = heard()
    const reservation = quota.reserveSync({ subject: 'u', operation: 'write', cost: 48 })
    consume(1)
    reservation.cancel()
    expect(near).toEqual([])
    const other = quota.reserveSync({ subject: 'u', operation: 'write', cost: 47 })
    other.commit()
    expect(near).toEqual(['u personal-write-1h 48/60 {"share":0.8}'])
    quota.reserveSync({ subject: 'u', operation: 'write', cost: 12 }).cancel()
    clock.at += HOUR
    near.length = 0
    consume(60)
    clock.at += HOUR
    consume(48)
    expect(near).toEqual([60, 48].map((used) => `u personal-write-1h ${used}/60 {"share":0.8}`))
  })

  it('nearLimit isn’t emitted for free requests, peeks, or unlimited windows', async () => {
    const { quota, near, consume } = heard([{ share: 0.01 }])
    const names = Object.keys(flatLimits(0, 0)).filter((name) => name.includes('-write-'))
    await quota.settings.update({ limits: Object.fromEntries(names.map((name) => [name, 'unlimited'])) })
    consume(0)
    consume(1_000)
    quota.peekSync({ subject: 'u', operation: 'write' })
    quota.consumeSync({ subject: 'u', operation: 'read', cost: 1_000_000 })
    expect(near).toEqual([])
  })

  it('nearLimit isn’t emitted for a threshold with more left than the limit', () => {
    const { near, consume } = heard([{ left: 60 }])
    consume(60)
    expect(near).toEqual([])
  })

  it('nearLimit thresholds are exact to the hundredth', async () => {
    for (const share of [1, 7, 29, 33, 57, 58, 80, 99, 100]) {
      const { quota, near, consume } = heard([{ share: share / 100 }])
      const limits = { 'personal-write-1h': 100, 'personal-write-5h': 1_000, 'personal-write-1d': 1_000 }
      await quota.settings.update({ limits, shared: { site: { enabled: false } } })
      let at = 0
      for (let used = 1; used <= 100 && at === 0; used++) {
        consume(1)
        if (near.length > 0) at = used
      }
      // 0.07 x 100 is more than 7 in floating point, and 0.29 x 100 less than 29.
      expect(at).toBe(share)
    }
  })

  it('nearLimit uses thresholds from the settings, else from the options', async () => {
    const { quota, near, consume } = heard([{ share: 0.5 }])
    const { settings } = await quota.settings.update({ thresholds: [{ left: 1 }] })
    expect(settings.thresholds).toEqual([{ left: 1 }])
    consume(58)
    expect(near).toEqual([])
    consume(1)
    expect(near).toEqual(['u personal-write-1h 59/60 {"left":1}'])
    await quota.settings.update({ thresholds: [] })
    consume(60, 'v')
    expect(near).toHaveLength(1)
    await quota.settings.update({ thresholds: null })
    consume(30, 'w')
    expect(near.slice(1)).toEqual(['w personal-write-1h 30/60 {"share":0.5}'])
  })

  it('nearLimit is emitted for shadowed, calendar and slot limits', async () => {
    const clock = testClock(Date.UTC(2026, 7, 6))
    const policy = definePolicy({
      limits: {
        day: { by: 'user', limit: 30, every: 'day', timeZone: 'UTC', shadow: true },
        running: { by: 'user', concurrency: 2 },
      },
      operations: { chat: { cost: 10 } },
    })
    const quota = createQuota({ policy, clock, store: memoryStore({ clock }), calendar: luxonCalendar() })
    const near: string[] = []
    quota.on('nearLimit', ({ limit }) => near.push(`${limit.name} ${limit.kind} ${limit.used} ${limit.enforced}`))
    const chat = { subject: 'u', operation: 'chat', ttlMs: 1_000 } as const
    const first = await quota.reserve(chat)
    expect(near).toEqual([])
    await quota.reserve(chat)
    expect(near).toEqual(['running concurrency 2 true'])
    // A growth takes tokens, and no slot.
    if (first.status === 'reserved') expect((await first.add(20)).allowed).toBe(true)
    expect(near.slice(1)).toEqual([])
    await first.commit()
    expect(near.slice(1)).toEqual(['day calendar 40 false'])
    await quota.reserve(chat)
    expect(near.slice(2)).toEqual(['running concurrency 2 true'])
    await quota.close()
  })

  it('nearLimit uses separate thresholds for slots and tokens', async () => {
    const clock = testClock()
    const quota = createQuota({
      unit: 'tokens',
      limits: { perHour: { by: 'user', limit: 20, per: '1h' }, running: { by: 'user', concurrency: 11 } },
      operations: { chat: { cost: 10 } },
      thresholds: [
        { left: 10, unit: 'slots' },
        { left: 10, unit: 'tokens' },
      ],
      clock,
      store: memoryStore({ clock }),
    })
    const near: string[] = []
    quota.on('nearLimit', ({ limit, threshold }) => near.push(`${limit.name} ${threshold.unit}`))
    const reservation = await quota.reserve({ subject: 'u' })
    // Of slots, too, ten are left.
    expect(near).toEqual(['running slots'])
    await reservation.commit()
    expect(near).toEqual(['running slots', 'perHour tokens'])
    await quota.close()
  })

  it('nearLimit counts what is final, whatever order reservations are settled in', async () => {
    for (const order of [
      [0, 1, 2],
      [2, 1, 0],
      [1, 2, 0],
    ]) {
      const { quota, near, consume } = heard()
      const write = { subject: 'u', operation: 'write', cost: 15 } as const
      // With all of them 55 of 60 are reserved, and the last one takes the count across 48.
      const open = await Promise.all([
        quota.reserve(write),
        quota.reserve(write),
        quota.reserve({ ...write, ttlMs: 1 }),
      ])
      consume(10)
      for (const at of order) await open[at]!.commit(12)
      expect(near).toEqual([])
      consume(2)
      expect(near).toEqual(['u personal-write-1h 48/60 {"share":0.8}'])
    }
  })

  it('nearLimit waits for all that is open, after others are settled and with what was added', async () => {
    const { quota, near, consume } = heard()
    const of = (subject: string, cost: number) => quota.reserveSync({ subject, operation: 'write', cost, ttlMs: HOUR })
    const [first, second] = [of('u', 10), of('u', 30)]
    first.cancel()
    consume(20)
    second.cancel()
    const grown = of('v', 30)
    if (grown.status !== 'reserved') throw new Error('it is to be admitted')
    await grown.add(5)
    consume(20, 'v')
    await grown.cancel()
    await new Promise(setImmediate)
    expect(near).toEqual([])
  })

  it('nearLimit is emitted by the settlement that leaves the limit near', async () => {
    const { quota, near } = heard()
    const write = { subject: 'u', operation: 'write', ttlMs: HOUR } as const
    const [large, small] = [quota.reserveSync({ ...write, cost: 40 }), quota.reserveSync({ ...write, cost: 15 })]
    large.commit(35)
    expect(near).toEqual([])
    small.commit(13)
    expect(near).toEqual(['u personal-write-1h 48/60 {"share":0.8}'])
    // The crossing was by one that didn't happen, and the limit was near without it.
    const before = quota.reserveSync({ ...write, subject: 'v', cost: 47 })
    const crossing = quota.reserveSync({ ...write, subject: 'v', cost: 1 })
    quota.consumeSync({ subject: 'v', operation: 'write', cost: 1 })
    crossing.cancel()
    expect(near).toHaveLength(1)
    before.commit()
    expect(near.slice(1)).toEqual(['v personal-write-1h 48/60 {"share":0.8}'])
  })

  it('nearLimit ignores reservations whose hold has expired', async () => {
    const { quota, clock, near, consume } = heard()
    quota.reserveSync({ subject: 'u', operation: 'write', cost: 50, ttlMs: 1_000 })
    clock.at += 1_000
    consume(30)
    expect(near).toEqual([])
    consume(18)
    expect(near).toEqual(['u personal-write-1h 48/60 {"share":0.8}'])
  })

  it('nearLimit is emitted once for a commit above its hold, with or without others that are open', async () => {
    for (const others of [0, 1]) {
      const clock = testClock()
      const quota = createQuota({
        limits: { perHour: { by: 'user', limit: 60, per: '1h' } },
        operations: { chat: { cost: 10, overrun: 'charge', maxOverrun: 40 } },
        clock,
        store: memoryStore({ clock }),
      })
      const near: string[] = []
      quota.on('nearLimit', ({ limit: { name, used } }) => near.push(`${name} ${used}`))
      const hold = quota.reserveSync({ subject: 'u', ttlMs: HOUR })
      const open = Array.from({ length: others }, () => quota.reserveSync({ subject: 'u', ttlMs: HOUR }))
      await hold.commit(48)
      await new Promise(setImmediate)
      expect(near).toEqual([`perHour ${48 + 10 * others}`])
      for (const each of open) await each.commit()
      await new Promise(setImmediate)
      expect(near).toHaveLength(1)
    }
  })

  it('nearLimit is emitted for a hold that was resumed, by the commit', async () => {
    const { quota, near } = heard()
    const reservation = quota.reserveSync({ subject: 'u', operation: 'write', cost: 50, ttlMs: HOUR })
    const token = reservation.status === 'reserved' ? reservation.token! : ''
    await (await quota.resume(token)).commit(48)
    expect(near).toEqual(['u personal-write-1h 48/60 {"share":0.8}'])
  })

  it('nearLimit is emitted once, also when the count reaches its maximum', async () => {
    const { quota, near, consume } = heard()
    const shadow = Object.fromEntries(Object.keys(flatLimits(0, 0)).map((name) => [name, true]))
    await quota.settings.update({ shadow })
    consume(48)
    expect(near).toEqual(['u personal-write-1h 48/60 {"share":0.8}'])
    consume(Number.MAX_SAFE_INTEGER)
    consume(Number.MAX_SAFE_INTEGER)
    expect(near.filter((each) => each.startsWith('u personal-write-1h'))).toHaveLength(1)
  })
})

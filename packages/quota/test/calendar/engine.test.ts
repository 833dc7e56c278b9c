import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { luxonCalendar } from '../../src/calendar.ts'
import { createQuota, type LimitDefinition, memoryStore } from '../../src/index.ts'
import { CALENDAR_PERIODS } from '../../src/windows/kinds/calendar.ts'
import { type TestClock, testClock } from '../support.ts'
import { isDeep, oracleOf, ZONES } from './zones.ts'

const DAY_MS = 86_400_000
const calendar = luxonCalendar()

interface Clocks {
  readonly clock: TestClock
  readonly storeClock?: TestClock
}

type Period = Pick<Extract<LimitDefinition, { readonly every: string }>, 'every' | 'timeZone' | 'anchor'>

/** An engine that admits ten requests a period, with a rolling hour beside it that never refuses. */
function tenEach(period: Period, { clock, storeClock = clock }: Clocks) {
  return createQuota({
    limits: {
      perHour: { by: 'customer', limit: 'unlimited', per: '1h' },
      own: { by: 'customer', limit: 10, ...period },
      all: { shared: 'everybody', limit: 1_000, ...period },
    },
    calendar,
    clock,
    store: memoryStore({ clock: storeClock }),
  })
}

function consumed(quota: ReturnType<typeof tenEach>, cost: number) {
  return quota.consumeSync({ subject: 'c7', cost })
}

describe('an engine with calendar windows', () => {
  it('a calendar limit refuses until its period ends, to the millisecond', () => {
    const asked = fc.constantFrom(...ZONES).chain((timeZone) => {
      const changes = oracleOf(timeZone).changes.filter((at) => at > Date.UTC(2011, 0))
      return fc.record({
        timeZone: fc.constant(timeZone),
        every: fc.constantFrom(...CALENDAR_PERIODS),
        at: fc
          .tuple(fc.constantFrom(Date.UTC(2026, 0), ...changes), fc.integer({ min: -DAY_MS, max: DAY_MS }))
          .map(([change, after]) => change + after),
      })
    })
    fc.assert(
      fc.property(asked, ({ at, ...rule }) => {
        const clock = testClock(at)
        const quota = tenEach(rule, { clock })
        const [start, end, nextEnd] = calendar.periods({ label: 'w', ...rule }, at)
        expect(consumed(quota, 10)).toMatchObject({ allowed: true })
        expect(consumed(quota, 1)).toMatchObject({
          allowed: false,
          refusedBy: { name: 'own', resetAt: end, lengthMs: end - start },
          retryAfterSeconds: Math.ceil((end - at) / 1000),
        })
        clock.at = end - 1
        expect(consumed(quota, 1)).toMatchObject({ allowed: false })
        clock.at = end
        expect(consumed(quota, 10)).toMatchObject({ allowed: true })
        expect(consumed(quota, 1)).toMatchObject({ allowed: false, refusedBy: { resetAt: nextEnd } })
      }),
      { numRuns: isDeep ? 1_000 : 40 },
    )
  })

  const month = { every: 'month', timeZone: 'Asia/Shanghai' } as const

  it('a calendar limit uses the store’s clock, not the process’s', () => {
    const storeClock = testClock(Date.parse('2026-08-31T15:59:59.999Z'))
    const quota = tenEach(month, { clock: testClock(Date.parse('2031-02-01T00:00Z')), storeClock })
    consumed(quota, 10)
    expect(consumed(quota, 1)).toMatchObject({ refusedBy: { resetAt: Date.parse('2026-08-31T16:00Z') } })
    storeClock.at += 1
    expect(consumed(quota, 10)).toMatchObject({ allowed: true })
  })

  it('a calendar limit finds its period after years without a call', () => {
    const clock = testClock(Date.parse('2026-08-31T00:00Z'))
    const quota = tenEach(month, { clock })
    consumed(quota, 10)
    clock.at = Date.parse('2034-02-10T00:00Z')
    expect(quota.statusSync('c7').limits.own).toMatchObject({
      used: 0,
      startedAt: null,
      resetAt: Date.parse('2034-02-28T16:00Z'),
    })
    expect(consumed(quota, 10)).toMatchObject({ allowed: true })
  })

  it('a calendar limit keeps what was used when its anchor changes twice', async () => {
    const clock = testClock(Date.parse('2026-03-10T00:00Z'))
    const quota = tenEach({ every: 'month', timeZone: 'UTC', anchor: 'subject' }, { clock })
    const endsAt = (subject: string): string =>
      new Date(quota.statusSync(subject).limits.own?.resetAt ?? 0).toISOString().slice(0, 10)
    consumed(quota, 10)
    await quota.subjects.set('c7', { anchor: { day: 1 } })
    for (const day of [12, 20, 11, 31]) {
      await quota.subjects.set('c7', { anchor: { day } })
      clock.at += DAY_MS
      expect(consumed(quota, 1)).toMatchObject({ allowed: false })
      expect([endsAt('c7'), endsAt('c8')]).toEqual(['2026-04-01', '2026-04-01'])
    }
    clock.at = Date.parse('2026-04-01T00:00Z')
    expect(consumed(quota, 10)).toMatchObject({ allowed: true })
    expect([endsAt('c7'), endsAt('c8')]).toEqual(['2026-04-30', '2026-05-01'])
  })
})

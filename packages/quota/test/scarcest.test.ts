import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { luxonCalendar } from '../src/calendar.ts'
import { scarcestLimit } from '../src/decision/scarcest.ts'
import { createQuota, type Decision, type Limit, type LimitStatus } from '../src/index.ts'
import { HOUR, testClock } from './support.ts'

const limit = fc.oneof(fc.integer({ min: 0, max: 60 }), fc.constant('unlimited' as const))
const limits = fc.record({ hour: limit, fiveHours: limit, day: limit, running: fc.integer({ min: 1, max: 4 }) })
const request = fc.record({
  subject: fc.constantFrom('a', 'b', 'c'),
  cost: fc.integer({ min: 1, max: 20 }),
  afterMs: fc.constantFrom(0, 1, 999, HOUR - 1, HOUR, 7 * HOUR),
  more: fc.integer({ min: -20, max: 70 }),
})

type Numbers = Readonly<Record<'hour' | 'fiveHours' | 'day' | 'running', Limit>>

function made(own: Numbers, all: Numbers) {
  const clock = testClock()
  const quota = createQuota({
    limits: {
      hour: { by: 'user', limit: own.hour, per: '1h' },
      fiveHours: { by: 'user', limit: own.fiveHours, per: '5h' },
      day: { by: 'user', limit: own.day, every: 'day', timeZone: 'UTC' },
      running: { by: 'user', concurrency: own.running },
      hourOfAll: { shared: 'all', limit: all.hour, per: '1h' },
      fiveHoursOfAll: { shared: 'all', limit: all.fiveHours, per: '5h' },
      dayOfAll: { shared: 'all', limit: all.day, every: 'day', timeZone: 'UTC' },
    },
    clock,
    calendar: luxonCalendar(),
    logger: false,
  })
  return { clock, quota }
}

/** The rule as it is written down, for one limit against all others. */
function isScarcest(found: LimitStatus, { limits, cost }: Decision, more: number): boolean {
  const roomOf = ({ limit, used }: LimitStatus): number =>
    Math.floor(Math.max(0, (limit as number) - Math.max(0, used + more)) / (cost as number))
  return (Object.values(limits) as readonly LimitStatus[])
    .filter(({ kind, limit, enforced }) => kind !== 'concurrency' && limit !== 'unlimited' && enforced)
    .every((other) => {
      const difference = roomOf(other) - roomOf(found)
      return difference > 0 || (difference === 0 && (other.resetAt ?? 0) <= (found.resetAt ?? 0))
    })
}

describe('the scarcest limit', () => {
  it('the scarcest limit is the same by counters and in a copy and admits the fewest more requests', async () => {
    let compared = 0
    const property = fc.asyncProperty(
      limits,
      limits,
      fc.subarray(['hour', 'fiveHours', 'day']),
      fc.array(request, { minLength: 1, maxLength: 12 }),
      async (personal, site, shadow, requests) => {
        const { clock, quota } = made(personal, site)
        await quota.settings.update({ shadow: Object.fromEntries(shadow.map((name) => [name, true])) })
        for (const { afterMs, more, ...asked } of requests) {
          clock.at += afterMs
          const { decision } = quota.reserveSync({ ...asked, ttlMs: 60_000 })
          if (decision?.allowed !== true) continue
          const found = scarcestLimit(decision, more)
          expect(scarcestLimit({ ...decision.toJSON() } as typeof decision, more)).toEqual(found)
          if (found?.kind === 'concurrency' || found === undefined) continue
          expect(isScarcest(found, decision, more)).toBe(true)
          compared++
        }
      },
    )
    await fc.assert(property, { numRuns: 150 })
    expect(compared).toBeGreaterThan(100)
  })

  it('the scarcest limit is a concurrency limit if there is no other, and undefined if all are unlimited', () => {
    const all = { hour: 'unlimited', fiveHours: 'unlimited', day: 'unlimited', running: 'unlimited' } as const
    const decisionOf = (own: Numbers) => made(own, all).quota.reserveSync({ subject: 'u' }).decision!
    expect(scarcestLimit(decisionOf({ ...all, running: 2 }), 0)).toMatchObject({ name: 'running', remaining: 1 })
    expect(scarcestLimit(decisionOf(all), 0)).toBeUndefined()
  })
})

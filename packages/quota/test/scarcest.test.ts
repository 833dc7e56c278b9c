import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { luxonCalendar } from '../src/calendar.ts'
import { scarcestWindow } from '../src/decision/scarcest.ts'
import { createQuota, type Decision, defaultPolicy, memoryStore, type Policy, type WindowStatus } from '../src/index.ts'
import { HOUR, testClock } from './support.ts'

const limit = fc.oneof(fc.integer({ min: 0, max: 60 }), fc.constant('unlimited' as const))
const limits = fc.record({ '1h': limit, '5h': limit, day: limit, running: fc.integer({ min: 1, max: 4 }) })
const request = fc.record({
  subject: fc.constantFrom('a', 'b', 'c'),
  cost: fc.integer({ min: 1, max: 20 }),
  afterMs: fc.constantFrom(0, 1, 999, HOUR - 1, HOUR, 7 * HOUR),
  more: fc.integer({ min: -20, max: 70 }),
})

function policyOf(personal: Record<string, number | 'unlimited'>, site: Record<string, number | 'unlimited'>): Policy {
  const { running: _, ...windows } = site
  return {
    ...defaultPolicy(),
    windows: [
      { label: '1h', lengthMs: HOUR },
      { label: '5h', lengthMs: 5 * HOUR },
      { label: 'day', every: 'day', timeZone: 'UTC' },
    ],
    categories: ['write'],
    operations: { write: { category: 'write', cost: 1 } },
    concurrency: { label: 'running', operations: ['write'] },
    base: { personal: { write: personal }, site: { write: windows } },
  }
}

/** The rule as it is written down, for one limit against all others. */
function isScarcest(found: WindowStatus, { windows, cost }: Decision, more: number): boolean {
  const roomOf = ({ limit, used }: WindowStatus): number =>
    Math.floor(Math.max(0, (limit as number) - Math.max(0, used + more)) / cost)
  return (windows as readonly WindowStatus[])
    .filter(({ kind, limit, enforced }) => kind !== 'concurrency' && limit !== 'unlimited' && enforced)
    .every((other) => {
      const difference = roomOf(other) - roomOf(found)
      return difference > 0 || (difference === 0 && (other.resetAt ?? 0) <= (found.resetAt ?? 0))
    })
}

describe('the scarcest limit', () => {
  it('the scarcest limit is the same by counters and by windows and admits the fewest more requests', async () => {
    let windows = 0
    const property = fc.asyncProperty(
      limits,
      limits,
      fc.subarray(['1h', '5h', 'day']),
      fc.array(request, { minLength: 1, maxLength: 12 }),
      async (personal, site, shadow, requests) => {
        const clock = testClock()
        const store = memoryStore({ clock })
        const quota = createQuota({ policy: policyOf(personal, site), clock, store, calendar: luxonCalendar() })
        await quota.settings.update({ shadow: { personal: shadow } })
        for (const { afterMs, more, ...asked } of requests) {
          clock.at += afterMs
          const { decision } = quota.reserveSync({ ...asked, operation: 'write', ttlMs: 60_000 })
          if (decision?.allowed !== true) continue
          const found = scarcestWindow(decision, more)
          expect(scarcestWindow({ ...decision.toJSON() } as Decision, more)).toEqual(found)
          if (found?.kind === 'concurrency' || found === undefined) continue
          expect(isScarcest(found, decision, more)).toBe(true)
          windows++
        }
      },
    )
    await fc.assert(property, { numRuns: 150 })
    expect(windows).toBeGreaterThan(100)
  })

  it('the scarcest limit is a concurrency limit if there is no other, and undefined if all are unlimited', () => {
    const all = { '1h': 'unlimited', '5h': 'unlimited', day: 'unlimited' } as const
    const clock = testClock()
    const decisionOf = (personal: Record<string, number | 'unlimited'>): Decision => {
      const quota = createQuota({
        policy: policyOf(personal, all),
        clock,
        store: memoryStore({ clock }),
        calendar: luxonCalendar(),
      })
      return quota.reserveSync({ subject: 'u', operation: 'write' }).decision!
    }
    expect(scarcestWindow(decisionOf({ ...all, running: 2 }), 0)).toMatchObject({ window: 'running', remaining: 1 })
    expect(scarcestWindow(decisionOf({ ...all, running: 'unlimited' }), 0)).toBeUndefined()
  })
})

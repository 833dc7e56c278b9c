import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { draftFields } from '../src/http/headers.ts'
import type { Decision } from '../src/index.ts'
import { fixture, HOUR, testPolicy } from './support.ts'

/** The same decision as somebody else might make it: its fields are worked out from its windows. */
function copied(decision: Decision): Decision {
  return { ...decision, windows: decision.windows, shadowed: decision.shadowed } as Decision
}

const limit = fc.oneof(fc.integer({ min: 0, max: 60 }), fc.constant('unlimited' as const))
const limits = fc.record({ '1h': limit, '5h': limit, '1d': limit })
const layer = fc.record({ read: limits, write: limits })
const request = fc.record({
  subject: fc.constantFrom('a', 'b', 'c'),
  operation: fc.constantFrom('read' as const, 'write' as const),
  cost: fc.integer({ min: 1, max: 30 }),
  afterMs: fc.constantFrom(0, 1, 999, HOUR - 1, HOUR, 7 * HOUR),
  more: fc.integer({ min: -30, max: 70 }),
})

describe('the fields of draft 10, prepared for the quotas of a decision', () => {
  it('are those that its windows say', async () => {
    let told = 0
    const property = fc.asyncProperty(
      fc.record({ personal: layer, site: layer }),
      fc.record({ personal: fc.subarray(['1h', '5h', '1d']), site: fc.subarray(['1h', '5h', '1d']) }),
      fc.array(request, { minLength: 1, maxLength: 12 }),
      fc.boolean(),
      async (base, shadow, requests, bypasses) => {
        const { quota, clock } = fixture({ policy: testPolicy(base) })
        await quota.settings.update({ shadow })
        if (bypasses) await quota.subjects.set('b', { bypass: ['site'], overrides: { write: { '1h': 33 } } })
        for (const { afterMs, more, ...asked } of requests) {
          clock.at += afterMs
          const decision = quota.consumeSync(asked)
          if (!decision.allowed) continue
          const fields = draftFields(decision, more)
          expect(fields).toEqual(draftFields(copied(decision), more))
          expect(draftFields(decision)).toEqual(draftFields(copied(decision)))
          if (fields !== undefined) told++
        }
      },
    )
    await fc.assert(property, { numRuns: 150 })
    expect(told).toBeGreaterThan(100)
  })

  it('change with the limits', async () => {
    const { quota } = fixture()
    const ask = () => draftFields(quota.consumeSync({ subject: 'u', operation: 'read' }))?.policy
    const before = ask()
    await quota.settings.update({ mode: 'lenient' })
    expect(before).toMatch(/^"personal-1h";q=(\d+);w=3600/)
    expect(ask()).not.toBe(before)
  })
})

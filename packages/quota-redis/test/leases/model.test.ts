import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { LeaseModel } from './model.ts'
import { RULES, type Rule, type Step } from './model-parts.ts'
import { Violation } from './model-promises.ts'

const deep = process.env.QUOTA_TEST_DEEP === '1'
const RUNS = deep ? 500_000 : 1_500
/** Histories looked at for one that needs a rule; found after some hundreds. */
const SEARCH_RUNS = deep ? 500_000 : 60_000

const process_ = fc.nat({ max: 1 })
const cost = fc.integer({ min: 1, max: 3 })
const of = fc.nat({ max: 5 })

const replicated = fc.constantFrom(true, true, true, false)

const ask = fc.record({ kind: fc.constant('ask' as const), process: process_, cost })
const deliver = fc.record({ kind: fc.constant('deliver' as const), of: fc.constantFrom(0, 0, 0, 1, 2), replicated })
const tick = fc.record({ kind: fc.constant('tick' as const), ticks: fc.integer({ min: 1, max: 5 }) })
const chore = fc.constantFrom('refresh' as const, 'give back' as const, 'learn' as const, 'crash' as const)
const mishap = fc.record({ kind: fc.constantFrom('lose' as const, 'double' as const, 'cancel' as const), of })

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 12, arbitrary: ask },
  { weight: 30, arbitrary: deliver },
  { weight: 4, arbitrary: tick },
  { weight: 6, arbitrary: fc.record({ kind: chore, process: process_, cost }) },
  { weight: 6, arbitrary: mishap },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('limit' as const), tokens: fc.constantFrom(2, 4, 6) }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'failover' } as const) },
  { weight: 1, arbitrary: fc.constant({ kind: 'take back' } as const) },
)
const history = fc.array(step, { maxLength: 60, size: 'max' })

function play(steps: readonly Step[], without?: Rule): void {
  const model = new LeaseModel(without)
  for (const each of steps) model.step(each)
  model.finish()
}

/** Whether all promises hold in a history; what else is thrown is a fault of the model. */
function holds(steps: readonly Step[], without?: Rule): boolean {
  try {
    play(steps, without)
    return true
  } catch (error) {
    if (error instanceof Violation) return false
    throw error
  }
}

describe('the rules of leases', () => {
  it(`the rules of leases keep every promise in ${RUNS} histories`, { timeout: 3_600_000 }, async () => {
    await fc.assert(
      fc.property(history, (steps) => play(steps)),
      { numRuns: RUNS },
    )
  })

  it.each(RULES)(
    'a broken promise is found without the rule: %s',
    {
      timeout: 3_600_000,
    },
    async (rule) => {
      const found = await fc.check(
        fc.property(history, (steps) => holds(steps, rule)),
        { numRuns: SEARCH_RUNS, seed: 3, endOnFailure: true },
      )
      expect(found.failed, `a history that breaks a promise without the rule, seed ${found.seed}`).toBe(true)
    },
  )
})

import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { LeaseModel } from './model.ts'
import { RULES, RULES_OF_KINDS, type Rule, type Step } from './model-parts.ts'
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

const holdStep: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: ask },
  { weight: 10, arbitrary: fc.record({ kind: fc.constant('hold' as const), process: process_, cost }) },
  { weight: 30, arbitrary: deliver },
  { weight: 6, arbitrary: tick },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('sweep' as const), process: process_, cost }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constantFrom('again' as const, 'cancel' as const), of }) },
)
/** Histories in which holds are much of what happens, many of them without a mishap. */
const holdHistory = fc.oneof(
  { weight: 2, arbitrary: fc.array(holdStep, { maxLength: 60, size: 'max' }) },
  {
    weight: 1,
    arbitrary: fc.array(
      fc.oneof({ weight: 8, arbitrary: holdStep }, { weight: 1, arbitrary: step }, { weight: 1, arbitrary: mishap }),
      {
        maxLength: 60,
        size: 'max',
      },
    ),
  },
)

const one = fc.constant(0)
type Trouble = 'lose' | 'double' | 'cancel' | 'again'

/** Few requests, and much that happens to them. */
function troubled(kinds: readonly Trouble[], weight: number, time: number): fc.Arbitrary<Step[]> {
  const requests = fc.record({ kind: fc.constantFrom('ask' as const, 'hold' as const), process: one, cost })
  const arrivals = fc.record({ kind: fc.constant('deliver' as const), of, replicated: fc.constant(true) })
  const sweeps = fc.record({ kind: fc.constant('sweep' as const), process: one, cost })
  const each: fc.Arbitrary<Step> = fc.oneof(
    { weight: 4, arbitrary: requests },
    { weight: 12, arbitrary: arrivals },
    { weight: time, arbitrary: tick },
    { weight: time, arbitrary: sweeps },
    { weight, arbitrary: fc.record({ kind: fc.constantFrom(...kinds), of }) },
  )
  return fc.array(each, { maxLength: 60, size: 'max' })
}

const troubledHistory = troubled(['lose', 'double', 'cancel', 'again'], 6, 1)
/** Where a rule is needed seldom. */
const OWN_HISTORIES: Partial<Record<Rule, fc.Arbitrary<Step[]>>> = {
  'a mark tells whose tokens the record has': troubledHistory,
  'undo a hold as a whole': troubled(['lose', 'double', 'again'], 4, 2),
}

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

const rules: readonly [Rule, fc.Arbitrary<Step[]>][] = [
  ...RULES.map((rule): [Rule, fc.Arbitrary<Step[]>] => [rule, history]),
  ...RULES_OF_KINDS.map((rule): [Rule, fc.Arbitrary<Step[]>] => [rule, OWN_HISTORIES[rule] ?? holdHistory]),
]

describe('the rules of leases', () => {
  it.each([
    ['plain', history],
    ['hold', holdHistory],
    ['troubled', troubledHistory],
  ])(
    `the rules of leases keep every promise in ${RUNS} histories of %s requests`,
    { timeout: 3_600_000 },
    async (_, histories) => {
      await fc.assert(
        fc.property(histories, (steps) => play(steps)),
        { numRuns: RUNS },
      )
    },
  )

  it.each(rules)('a broken promise is found without the rule: %s', { timeout: 3_600_000 }, async (rule, histories) => {
    const found = await fc.check(
      fc.property(histories, (steps) => holds(steps, rule)),
      { numRuns: SEARCH_RUNS, seed: 3, endOnFailure: true },
    )
    expect(found.failed, `a history that breaks a promise without the rule, seed ${found.seed}`).toBe(true)
  })
})

import { checkPromises, runHistories, UNIT_SCENES } from '@scoregw/quota-histories'
import { slowTests } from '@scoregw/server-kit'
import { describe, expect, it } from 'vitest'
import { CONFORMANCE_CASES, type ConformanceCase, runCase } from '../src/index.ts'
import { BOUND_CASES } from '../src/suite/bound-cases.ts'
import { BUCKET_CASES } from '../src/suite/bucket-cases.ts'
import { CALENDAR_CASES } from '../src/suite/calendar-cases.ts'
import { CLOCK_CASES } from '../src/suite/clock-cases.ts'
import { DECISION_CASES } from '../src/suite/decision-cases.ts'
import { EDIT_CASES } from '../src/suite/edit-cases.ts'
import { HOLD_CASES } from '../src/suite/hold-cases.ts'
import { HOLD_GROWTH_CASES } from '../src/suite/hold-growth-cases.ts'
import { HOLD_ID_CASES } from '../src/suite/hold-id-cases.ts'
import { HOLD_SETTLE_CASES } from '../src/suite/hold-settle-cases.ts'
import { ID_CASES } from '../src/suite/id-cases.ts'
import { ROLLING_CASES, ROLLING_ID_CASES } from '../src/suite/rolling-cases.ts'
import { SETTLE_CASES } from '../src/suite/settle-cases.ts'
import { SLOTS_CASES } from '../src/suite/slots-cases.ts'
import { SUBJECT_CASES } from '../src/suite/subject-cases.ts'
import { UNIT_CASES } from '../src/suite/unit-cases.ts'
import { WINDOW_CASES } from '../src/suite/window-cases.ts'
import { BUCKET_MUTANTS } from './bucket-mutants.ts'
import { COUNTER_MUTANTS } from './counter-mutants.ts'
import { ID_MUTANTS } from './id-mutants.ts'
import { CALENDAR_MUTANTS, HOLD_MUTANTS, SLOTS_MUTANTS } from './kind-mutants.ts'
import { factoryOf, type Mutant } from './mutant.ts'
import { NAME_MUTANTS } from './name-mutants.ts'
import { UNIT_MUTANTS } from './unit-mutants.ts'
import { WINDOW_MUTANTS } from './window-mutants.ts'

const isSlow = ({ name }: ConformanceCase): boolean => name.includes('every history')
const QUICK = CONFORMANCE_CASES.filter((each) => !isSlow(each))

/** Mutants of a kind, and the cases that are most likely to catch them. */
const KINDS: readonly (readonly [mutants: readonly Mutant[], likely: readonly ConformanceCase[]])[] = [
  [WINDOW_MUTANTS, [...WINDOW_CASES, ...DECISION_CASES, ...CLOCK_CASES]],
  [COUNTER_MUTANTS, [...SETTLE_CASES, ...SUBJECT_CASES, ...BOUND_CASES]],
  [ID_MUTANTS, ID_CASES.filter((each) => !isSlow(each))],
  [NAME_MUTANTS, [...ROLLING_ID_CASES, ...EDIT_CASES, ...ROLLING_CASES]],
  [CALENDAR_MUTANTS, CALENDAR_CASES],
  [BUCKET_MUTANTS, BUCKET_CASES],
  [SLOTS_MUTANTS, SLOTS_CASES],
  [UNIT_MUTANTS, UNIT_CASES],
  [HOLD_MUTANTS, [...HOLD_CASES, ...HOLD_GROWTH_CASES, ...HOLD_SETTLE_CASES, ...HOLD_ID_CASES]],
]
const MUTANTS = KINDS.flatMap(([mutants, likely]) => mutants.map((mutant) => ({ ...mutant, likely })))

async function fails(run: () => Promise<unknown>): Promise<boolean> {
  try {
    await run()
    return false
  } catch {
    return true
  }
}

describe.runIf(slowTests)('mutants and the conformance cases', () => {
  it.each(MUTANTS)('a case finds the fault: $fault', async ({ likely, ...mutant }) => {
    const cases = new Set([...likely, ...QUICK, ...CONFORMANCE_CASES])
    let caughtBy: string | undefined
    for (const testCase of cases) {
      if (await fails(() => runCase(testCase, factoryOf(mutant)))) caughtBy = testCase.name
      if (caughtBy !== undefined) break
    }
    expect(caughtBy).toBeDefined()
  })
})

describe.runIf(slowTests)('mutants and random histories', () => {
  it.each(MUTANTS.filter(({ unseenByHistories }) => unseenByHistories !== true))(
    'random histories find the fault: $fault',
    async (mutant) => {
      expect(
        await fails(() => runHistories(factoryOf(mutant), { runs: 300, seed: mutant.seed ?? 1, shrink: false })),
      ).toBe(true)
    },
  )
})

describe.runIf(slowTests)('mutants with several units', () => {
  // Faults in names need two policies, which one engine does not have.
  it.each([
    ...['requests', 'tokens', 'money'].flatMap((unit) => [
      `the limits of ${unit} are not checked`,
      `${unit} are never given back`,
    ]),
    'everything is counted in every limit',
    'only the first unit is counted',
    'windows open also for what costs nothing of them',
  ])('random histories over several units find the fault: %s', async (fault) => {
    const mutant = UNIT_MUTANTS.find((each) => each.fault === fault)!
    expect(
      await fails(() => runHistories(factoryOf(mutant), { runs: 300, seed: 1, shrink: false, scenes: UNIT_SCENES })),
    ).toBe(true)
  })
})

describe.runIf(slowTests)('mutants and promises', () => {
  it.each([
    'admits one token more than the limit',
    'a window ends 1 ms too early',
    'a window lasts 1 ms too long',
    'a refund goes into whatever window is there',
    'only the first layer is checked',
  ])('the promises alone find the fault: %s', async (fault) => {
    const mutant = MUTANTS.find((each) => each.fault === fault)!
    expect(await fails(() => checkPromises(factoryOf(mutant), { runs: 300, seed: 1, shrink: false }))).toBe(true)
  })
})

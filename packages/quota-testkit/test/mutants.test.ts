import type { Clock } from '@scoregw/quota'
import { checkPromises, runHistories, UNIT_SCENES } from '@scoregw/quota-histories'
import { slowTests } from '@scoregw/server-kit'
import { describe, expect, it } from 'vitest'
import { CONFORMANCE_CASES, type ConformanceCase, runCase } from '../src/index.ts'
import { modelStore } from '../src/model.ts'
import { BUCKET_MUTANTS } from './bucket-mutants.ts'
import { COUNTER_MUTANTS } from './counter-mutants.ts'
import foundBy from './found-by.json' with { type: 'json' }
import { ID_MUTANTS } from './id-mutants.ts'
import { CALENDAR_MUTANTS, HOLD_MUTANTS, SLOTS_MUTANTS } from './kind-mutants.ts'
import { factoryOf, type Mutant } from './mutant.ts'
import { NAME_MUTANTS } from './name-mutants.ts'
import { SET_MUTANTS } from './set-mutants.ts'
import { UNIT_MUTANTS } from './unit-mutants.ts'
import { WINDOW_MUTANTS } from './window-mutants.ts'

/** By fault, the case that finds it. */
const FOUND_BY: Readonly<Record<string, string>> = foundBy
const MUTANTS: readonly Mutant[] = [
  ...[...WINDOW_MUTANTS, ...COUNTER_MUTANTS, ...ID_MUTANTS, ...NAME_MUTANTS],
  ...[...CALENDAR_MUTANTS, ...BUCKET_MUTANTS, ...SLOTS_MUTANTS, ...UNIT_MUTANTS, ...HOLD_MUTANTS],
  ...SET_MUTANTS.map(({ fault, Counters }) => ({ fault, make: (clock: Clock) => modelStore(clock, Counters) })),
]

async function fails(run: () => Promise<unknown>): Promise<boolean> {
  try {
    await run()
    return false
  } catch {
    return true
  }
}

describe.runIf(slowTests)('mutants and the conformance cases', () => {
  it.each(MUTANTS)('a case finds the fault: $fault', async (mutant) => {
    const finds = (testCase: ConformanceCase) => fails(() => runCase(testCase, factoryOf(mutant)))
    const named = CONFORMANCE_CASES.find(({ name }) => name === FOUND_BY[mutant.fault])
    if (named !== undefined && (await finds(named))) return
    // It is found by another case or by none: the table has to say so.
    let finder: string | undefined
    for (const testCase of CONFORMANCE_CASES) {
      if (await finds(testCase)) finder = testCase.name
      if (finder !== undefined) break
    }
    expect(FOUND_BY[mutant.fault]).toBe(finder ?? 'a case')
  })

  it('the table of faults names each mutant once', () => {
    expect(Object.keys(FOUND_BY).sort()).toEqual(MUTANTS.map(({ fault }) => fault).sort())
  })
})

describe.runIf(slowTests)('mutants and random histories', () => {
  it.each(MUTANTS.filter(({ unseenByHistories, make }) => unseenByHistories !== true && make === undefined))(
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

import { describe, expect, it } from 'vitest'
import { CONFORMANCE_CASES, checkPromises, runCase, runHistories } from '../src/index.ts'
import { COUNTER_MUTANTS } from './counter-mutants.ts'
import { ID_MUTANTS } from './id-mutants.ts'
import { factoryOf } from './mutant.ts'
import { NAME_MUTANTS } from './name-mutants.ts'
import { WINDOW_MUTANTS } from './window-mutants.ts'

const MUTANTS = [...WINDOW_MUTANTS, ...COUNTER_MUTANTS, ...ID_MUTANTS, ...NAME_MUTANTS]

async function fails(run: () => Promise<unknown>): Promise<boolean> {
  try {
    await run()
    return false
  } catch {
    return true
  }
}

describe('a store with one fault fails some case', () => {
  it.each(MUTANTS)('$fault', async (mutant) => {
    let caughtBy: string | undefined
    for (const testCase of CONFORMANCE_CASES) {
      if (await fails(() => runCase(testCase, factoryOf(mutant)))) caughtBy ??= testCase.name
      if (caughtBy !== undefined) break
    }
    expect(caughtBy).toBeDefined()
  })
})

describe('a store with one fault differs from the model', () => {
  it.each(MUTANTS.filter(({ unseenByHistories }) => unseenByHistories !== true))('$fault', async (mutant) => {
    expect(await fails(() => runHistories(factoryOf(mutant), { runs: 300, seed: 1, shrink: false }))).toBe(true)
  })
})

describe('promises without a model', () => {
  it.each([
    'admits one token more than the limit',
    'a window ends 1 ms too early',
    'a window lasts 1 ms too long',
    'a refund goes into whatever window is there',
    'only the first layer is checked',
  ])('%s: is caught', async (fault) => {
    const mutant = MUTANTS.find((each) => each.fault === fault)!
    expect(await fails(() => checkPromises(factoryOf(mutant), { runs: 300, seed: 1, shrink: false }))).toBe(true)
  })
})

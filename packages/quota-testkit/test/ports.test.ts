import { memoryFactor, memoryOutcomes } from '@scoregw/quota'
import { describe, expect, it } from 'vitest'
import {
  describeFactorStore,
  describeOutcomeStore,
  FACTOR_STORE_CASES,
  OUTCOME_STORE_CASES,
  type PortCase,
  type PortFactory,
  runPortCase,
} from '../src/index.ts'
import { FACTOR_MUTANTS, OUTCOME_MUTANTS, twoFactors, twoOutcomes } from './port-mutants.ts'

const stop = (): void => undefined

const registered = {
  factor: describeFactorStore({ describe, it }, () => ({ store: memoryFactor(), stop }), 'memory factor'),
  outcomes: describeOutcomeStore({ describe, it }, () => ({ store: memoryOutcomes(), stop }), 'memory outcomes'),
}

it('the suites run every case, under a name of its own', () => {
  expect(registered).toEqual({ factor: 12, outcomes: 8 })
  const names = [...FACTOR_STORE_CASES, ...OUTCOME_STORE_CASES].map(({ name }) => name)
  expect(new Set(names).size).toBe(20)
})

async function caughtBy<Port>(cases: readonly PortCase<Port>[], factory: PortFactory<Port>): Promise<string[]> {
  const failed = await Promise.all(
    cases.map((each) =>
      runPortCase(each, factory).then(
        () => [],
        () => [each.name],
      ),
    ),
  )
  return failed.flat()
}

describe('a store with one fault fails some case', () => {
  // Those that tell nobody take a second to be found out: all of them at once.
  it.concurrent.each(FACTOR_MUTANTS)('factor: $fault', async ({ make }) => {
    expect(await caughtBy(FACTOR_STORE_CASES, () => ({ ...make(), stop }))).not.toEqual([])
  })

  it.concurrent.each(OUTCOME_MUTANTS)('outcomes: $fault', async ({ make }) => {
    expect(await caughtBy(OUTCOME_STORE_CASES, () => ({ ...make(), stop }))).not.toEqual([])
  })

  it('and what the mutants are made from fails none', async () => {
    expect(await caughtBy(FACTOR_STORE_CASES, () => ({ ...twoFactors(), stop }))).toEqual([])
    expect(await caughtBy(OUTCOME_STORE_CASES, () => ({ ...twoOutcomes(), stop }))).toEqual([])
  })
})

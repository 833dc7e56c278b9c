import { memorySettings } from '@scoregw/quota'
import { memoryFactor, memoryOutcomes } from '@scoregw/quota/adaptive'
import { describe, expect, it } from 'vitest'
import {
  type Case,
  describeFactorStore,
  describeOutcomeStore,
  describeSettingsStore,
  FACTOR_STORE_CASES,
  type Factory,
  OUTCOME_STORE_CASES,
  type PortHarness,
  runCase,
  SETTINGS_STORE_CASES,
} from '../src/index.ts'
import { FACTOR_MUTANTS, OUTCOME_MUTANTS, twoFactors, twoOutcomes } from './port-mutants.ts'
import { SETTINGS_MUTANTS } from './settings-mutants.ts'
import { twoSettings } from './settings-table.ts'

const stop = (): void => undefined

const registered = {
  factor: describeFactorStore({ describe, it }, () => ({ store: memoryFactor(), stop }), 'memory factor'),
  outcomes: describeOutcomeStore({ describe, it }, () => ({ store: memoryOutcomes(), stop }), 'memory outcomes'),
  settings: describeSettingsStore(
    { describe, it },
    () => ({ store: memorySettings(), capabilities: [], stop }),
    'memory settings',
  ),
  apart: describeSettingsStore({ describe, it }, () => twoSettings(), 'settings apart from the counters'),
}

it('the suites of the small ports run every case under a unique name', () => {
  expect(registered).toEqual({ factor: 12, outcomes: 8, settings: 24, apart: 24 })
  const names = [...FACTOR_STORE_CASES, ...OUTCOME_STORE_CASES, ...SETTINGS_STORE_CASES].map(({ name }) => name)
  expect(new Set(names).size).toBe(44)
})

async function caughtBy<Harness extends Pick<PortHarness<unknown>, 'stop'>>(
  cases: readonly Case<Harness>[],
  factory: Factory<Harness>,
): Promise<string[]> {
  const failed = await Promise.all(
    cases.map((each) =>
      runCase(each, factory).then(
        () => [],
        () => [each.name],
      ),
    ),
  )
  return failed.flat()
}

describe('mutants of the small ports', () => {
  // Those that never notify take a second to be found out: all of them together.
  it.concurrent.each(FACTOR_MUTANTS)('a case finds the fault of the factor: $fault', async ({ make }) => {
    expect(await caughtBy(FACTOR_STORE_CASES, () => ({ ...make(), stop }))).not.toEqual([])
  })

  it.concurrent.each(OUTCOME_MUTANTS)('a case finds the fault of the outcomes: $fault', async ({ make }) => {
    expect(await caughtBy(OUTCOME_STORE_CASES, () => ({ ...make(), stop }))).not.toEqual([])
  })

  it.concurrent.each(SETTINGS_MUTANTS)('a case finds the fault of the settings: $fault', async ({ make }) => {
    expect(await caughtBy(SETTINGS_STORE_CASES, make)).not.toEqual([])
  })

  it('the stores that the mutants derive from pass every case', async () => {
    expect(await caughtBy(FACTOR_STORE_CASES, () => ({ ...twoFactors(), stop }))).toEqual([])
    expect(await caughtBy(OUTCOME_STORE_CASES, () => ({ ...twoOutcomes(), stop }))).toEqual([])
    expect(await caughtBy(SETTINGS_STORE_CASES, () => twoSettings())).toEqual([])
  })
})

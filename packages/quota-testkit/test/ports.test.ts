import { memorySettings } from '@scoregw/quota'
import { memoryFactor, memoryOutcomes } from '@scoregw/quota/adaptive'
import { describe, expect, it } from 'vitest'
import {
  describeFactorStore,
  describeOutcomeStore,
  describeSettingsStore,
  FACTOR_STORE_CASES,
  OUTCOME_STORE_CASES,
  type PortCase,
  type PortFactory,
  runPortCase,
  runSettingsCase,
  SETTINGS_STORE_CASES,
  type SettingsFactory,
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
  expect(registered).toEqual({ factor: 12, outcomes: 8, settings: 28, apart: 28 })
  const names = [...FACTOR_STORE_CASES, ...OUTCOME_STORE_CASES, ...SETTINGS_STORE_CASES].map(({ name }) => name)
  expect(new Set(names).size).toBe(48)
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

async function settingsCaughtBy(factory: SettingsFactory): Promise<string[]> {
  const failed = await Promise.all(
    SETTINGS_STORE_CASES.map((each) =>
      runSettingsCase(each, factory).then(
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
    expect(await settingsCaughtBy(make)).not.toEqual([])
  })

  it('the stores that the mutants derive from pass every case', async () => {
    expect(await caughtBy(FACTOR_STORE_CASES, () => ({ ...twoFactors(), stop }))).toEqual([])
    expect(await caughtBy(OUTCOME_STORE_CASES, () => ({ ...twoOutcomes(), stop }))).toEqual([])
    expect(await settingsCaughtBy(() => twoSettings())).toEqual([])
  })
})

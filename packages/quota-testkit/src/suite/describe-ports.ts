import type { FactorStore, OutcomeStore } from '@scoregw/quota/store'
import type { TestRunner } from './describe-store.ts'
import { FACTOR_STORE_CASES } from './factor-cases.ts'
import { OUTCOME_STORE_CASES } from './outcome-cases.ts'
import { describePort, type PortFactory } from './port-harness.ts'
import { SETTINGS_STORE_CASES } from './settings-cases.ts'
import { runSettingsCase, type SettingsFactory } from './settings-harness.ts'

/**
 * Registers what every `FactorStore` has to do as tests of a runner.
 *
 * @returns how many cases there are, so that a test can tell that none went missing
 * @example
 * describeFactorStore({ describe, it }, () => {
 *   const [store, peer] = [myFactor(database), myFactor(database)]
 *   return { store, peer, stop: () => database.close() }
 * })
 */
export function describeFactorStore(
  runner: TestRunner,
  factory: PortFactory<FactorStore>,
  name = 'factor store',
): number {
  return describePort(runner, FACTOR_STORE_CASES, factory, name)
}

/** As {@link describeFactorStore}, for an `OutcomeStore`. */
export function describeOutcomeStore(
  runner: TestRunner,
  factory: PortFactory<OutcomeStore>,
  name = 'outcome store',
): number {
  return describePort(runner, OUTCOME_STORE_CASES, factory, name)
}

/**
 * As {@link describeFactorStore}, for a `SettingsStore`.
 *
 * @example
 * describeSettingsStore({ describe, it }, () => {
 *   const [store, peer] = [mySettings(database), mySettings(database)]
 *   const loseData = () => database.truncate()
 *   return { store, peer, capabilities: ['loss'], loseData, stop: () => database.close() }
 * })
 */
export function describeSettingsStore(
  { describe, it }: TestRunner,
  factory: SettingsFactory,
  name = 'settings store',
): number {
  describe(name, () => {
    for (const testCase of SETTINGS_STORE_CASES) it(testCase.name, () => runSettingsCase(testCase, factory))
  })
  return SETTINGS_STORE_CASES.length
}

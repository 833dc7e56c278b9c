import type { FactorStore, OutcomeStore } from '@scoregw/quota/adaptive'
import { CONFORMANCE_CASES } from './cases.ts'
import { FACTOR_STORE_CASES } from './factor-cases.ts'
import {
  describeCases,
  type PortFactory,
  runCase,
  type SettingsFactory,
  type StoreFactory,
  type TestRunner,
} from './harness.ts'
import { OUTCOME_STORE_CASES } from './outcome-cases.ts'
import { SETTINGS_STORE_CASES } from './settings-cases.ts'

/**
 * Registers the conformance cases as tests of a runner.
 *
 * @returns the number of cases, so that a test can check that none is missing
 * @example
 * import { describe, it } from 'vitest'
 * describeStore({ describe, it }, () => {
 *   const clock = manualClock()
 *   const store = myStore({ clock })
 *   return { store, clock, capabilities: ['ids'], advance: clock.advance, stop: () => store.close() }
 * })
 */
export function describeStore(runner: TestRunner, factory: StoreFactory, name = 'quota store'): number {
  return describeCases(runner, name, CONFORMANCE_CASES, (each) => runCase(each, factory))
}

/**
 * Registers the cases of a `FactorStore` as tests of a runner.
 *
 * @returns the number of cases, so that a test can check that none is missing
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
  return describeCases(runner, name, FACTOR_STORE_CASES, (each) => runCase(each, factory))
}

/** Like {@link describeFactorStore}, for an `OutcomeStore`. */
export function describeOutcomeStore(
  runner: TestRunner,
  factory: PortFactory<OutcomeStore>,
  name = 'outcome store',
): number {
  return describeCases(runner, name, OUTCOME_STORE_CASES, (each) => runCase(each, factory))
}

/**
 * Like {@link describeFactorStore}, for a `SettingsStore`.
 *
 * @example
 * describeSettingsStore({ describe, it }, () => {
 *   const [store, peer] = [mySettings(database), mySettings(database)]
 *   const loseData = () => database.truncate()
 *   return { store, peer, capabilities: ['loss'], loseData, stop: () => database.close() }
 * })
 */
export function describeSettingsStore(runner: TestRunner, factory: SettingsFactory, name = 'settings store'): number {
  return describeCases(runner, name, SETTINGS_STORE_CASES, (each) => runCase(each, factory))
}

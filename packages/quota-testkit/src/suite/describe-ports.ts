import type { FactorStore, OutcomeStore } from '@scoregw/quota'
import type { TestRunner } from './describe-store.ts'
import { FACTOR_STORE_CASES } from './factor-cases.ts'
import { OUTCOME_STORE_CASES } from './outcome-cases.ts'
import { describePort, type PortFactory } from './port-harness.ts'

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

import { CONFORMANCE_CASES } from './cases.ts'
import { runCase, type StoreFactory } from './harness.ts'

/** The part of a test runner that the suite needs; Vitest, Jest and `node:test` all have it. */
export interface TestRunner {
  describe(name: string, body: () => void): unknown
  it(name: string, test: () => Promise<void>): unknown
}

/**
 * Registers the conformance cases as tests of a runner.
 *
 * @returns how many there are, so that a test can tell that none went missing
 * @example
 * import { describe, it } from 'vitest'
 * describeStore({ describe, it }, () => {
 *   const clock = manualClock()
 *   const store = myStore({ clock })
 *   return { store, clock, capabilities: ['ids'], advance: clock.advance, stop: () => store.close() }
 * })
 */
export function describeStore(runner: TestRunner, factory: StoreFactory, name = 'quota store'): number {
  runner.describe(name, () => {
    for (const testCase of CONFORMANCE_CASES) runner.it(testCase.name, () => runCase(testCase, factory))
  })
  return CONFORMANCE_CASES.length
}

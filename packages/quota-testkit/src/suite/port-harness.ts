import type { Answer } from '@scoregw/quota/store'
import type { TestRunner } from './describe-store.ts'

/** A new, empty store of one of the small ports: `FactorStore`, `OutcomeStore`. */
export interface PortHarness<Port> {
  readonly store: Port
  /** The store as another process sees it: another client of the same data. Default: `store` itself. */
  readonly peer?: Port | undefined
  /** Ends what the factory started. */
  stop(): Answer<void>
}

/** Makes a new, empty store; called once for each case. */
export type PortFactory<Port> = () => Answer<PortHarness<Port>>

/** One thing that every store of a port has to do. Fails by throwing an `AssertionError`. */
export interface PortCase<Port> {
  readonly name: string
  run(context: { readonly store: Port; readonly peer: Port }): Promise<void>
}

/** Runs one case on a new store of the factory. */
export async function runPortCase<Port>(testCase: PortCase<Port>, factory: PortFactory<Port>): Promise<void> {
  const harness = await factory()
  try {
    await testCase.run({ store: harness.store, peer: harness.peer ?? harness.store })
  } finally {
    await harness.stop()
  }
}

/** Registers cases as tests of a runner, and says how many there are. */
export function describePort<Port>(
  { describe, it }: TestRunner,
  cases: readonly PortCase<Port>[],
  factory: PortFactory<Port>,
  name: string,
): number {
  describe(name, () => {
    for (const testCase of cases) it(testCase.name, () => runPortCase(testCase, factory))
  })
  return cases.length
}

import assert from 'node:assert/strict'
import type { Answer } from '@scoregw/quota/store'

/** The part of a test runner that the suites need; Vitest, Jest and `node:test` all have it. */
export interface TestRunner {
  describe(name: string, body: () => void): unknown
  it(name: string, test: () => Promise<void>): unknown
}

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

/** A case of any port that needs nothing beyond the port. */
export function plainCase<Context>(
  name: string,
  run: (context: Context) => Promise<void>,
): { readonly name: string; run(context: Context): Promise<void> } {
  return { name, run }
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
export function describeCases<Case extends { readonly name: string }>(
  { describe, it }: TestRunner,
  name: string,
  cases: readonly Case[],
  run: (testCase: Case) => Promise<void>,
): number {
  describe(name, () => {
    for (const testCase of cases) it(testCase.name, () => run(testCase))
  })
  return cases.length
}

/** The longest that a change may go unheard, in milliseconds. */
const HEARD_WITHIN_MS = 1_000
/** Between two looks at what only a look can tell, in milliseconds. */
const LOOK_EVERY_MS = 5

/** A listener, and the wait for its call number `calls`, at most as long as the port allows. */
export function hearing(calls = 1): { readonly listener: () => void; heard(): Promise<void> } {
  let left = calls
  return {
    listener() {
      left--
    },
    heard: () => soon('a write is heard of', () => left <= 0),
  }
}

/**
 * Looks until something is so; fails when it is not so within the time that the port allows. That time is counted in
 * looks: on a busy machine they come as late as the timers of the store, whereas a clock would go on alone.
 */
export async function soon(what: string, look: () => Answer<boolean>): Promise<void> {
  for (let passedMs = 0; !(await look()); passedMs += LOOK_EVERY_MS) {
    assert.ok(passedMs < HEARD_WITHIN_MS, `${what}: not within ${HEARD_WITHIN_MS} ms`)
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS))
  }
}

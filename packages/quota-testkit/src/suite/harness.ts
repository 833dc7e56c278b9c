import type { Clock, MaybePromise, QuotaStore } from '@scoregw/quota'

/**
 * What a store, or the harness around it, can do beyond the port. The suite runs every case for every store: where a
 * capability is not declared, it asks instead that the store says so, or does the plain thing.
 *
 * - `ids`: takes requests under a reservation id. Without: throws a `QuotaError`, charging nothing.
 * - `sync`: answers at once. Without: the engine's `...Sync` calls throw `sync_unavailable`.
 * - `clock-steps`: the harness can set the store's clock forward and back. Without: its time never goes back.
 * - `bounded`: holds a number of live subjects that the harness can set. Without: it holds as many as come.
 */
export type StoreCapability = 'ids' | 'sync' | 'clock-steps' | 'bounded'

/** What a case asks of the store that it is given. */
export interface StoreWishes {
  /** Most live subjects in a layer and category; only asked of `bounded` stores. */
  readonly maxSubjects?: number | undefined
}

/** A new, empty store with its clock in the suite's hand. */
export interface StoreHarness {
  readonly store: QuotaStore
  /** The store as another process sees it: another client of the same data. Default: `store` itself. */
  readonly peer?: QuotaStore | undefined
  readonly capabilities: readonly StoreCapability[]
  /** The store's clock. It stands still but for {@link advance} and {@link stepClock}. */
  readonly clock: Clock
  /** Turns the store's clock forward, by 1 ms or more. */
  advance(ms: number): MaybePromise<void>
  /** Turns the store's clock forward or back; there if `clock-steps` is declared. */
  stepClock?(ms: number): MaybePromise<void>
  /** Ends what the factory started. */
  stop(): MaybePromise<void>
}

/** Makes a new, empty store; called once for each case and each random history. */
export type StoreFactory = (wishes: StoreWishes) => MaybePromise<StoreHarness>

/** What a case is given: a harness in which everything is there. */
export interface CaseContext extends StoreHarness {
  readonly peer: QuotaStore
  stepClock(ms: number): MaybePromise<void>
}

interface AnyCase {
  readonly name: string
  readonly wishes?: StoreWishes
  run(context: CaseContext): Promise<void>
}

/** One thing that every store has to do. Fails by throwing an `AssertionError`. */
export type ConformanceCase =
  | (AnyCase & { readonly needs?: undefined })
  | (AnyCase & {
      readonly needs: StoreCapability
      /** What a store without the capability has to do instead. */
      without(context: CaseContext): Promise<void>
    })

/** Runs one case on a new store of the factory. */
export async function runCase(testCase: ConformanceCase, factory: StoreFactory): Promise<void> {
  const harness = await factory(testCase.wishes ?? {})
  const context: CaseContext = {
    store: harness.store,
    peer: harness.peer ?? harness.store,
    capabilities: harness.capabilities,
    clock: harness.clock,
    advance: (ms) => harness.advance(ms),
    stepClock(ms) {
      if (harness.stepClock === undefined) throw new TypeError('"clock-steps" is declared, but there is no stepClock()')
      return harness.stepClock(ms)
    },
    stop: () => harness.stop(),
  }
  try {
    if (testCase.needs === undefined || harness.capabilities.includes(testCase.needs)) await testCase.run(context)
    else await testCase.without(context)
  } finally {
    await harness.stop()
  }
}

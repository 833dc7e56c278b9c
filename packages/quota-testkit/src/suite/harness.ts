import type { Clock } from '@scoregw/quota'
import type { Answer, QuotaStore } from '@scoregw/quota/store'

/**
 * Optional abilities of a store, or of its harness. Each case runs for every store. Without a capability, the suite
 * checks that the store rejects the request, or behaves as follows.
 *
 * - `ids`: accepts reservation ids. Without: throws a `QuotaError` and charges nothing.
 * - `sync`: is synchronous. Without: an engine on it has no `...Sync` calls.
 * - `clock-steps`: the harness can set the store's clock forward and back. Without: its time never goes back.
 * - `bounded`: keeps a maximum number of subjects that the harness can set. Without: keeps all subjects.
 * - `revisions`: knows the revision of the effective settings. Without: no request is ever stale.
 * - `damage`: the harness can change the stored bytes of a row. Without: a reset starts from zero.
 * - `expiry`: the harness can report how long a row will be kept. Without: a row is there when it is read.
 * - `deadline`: the harness can cut the store off from its server. Without: the store declares no deadline.
 * - `regroup`: counters go on when one layer of subjects becomes several. Without: they restart at zero.
 */
export type StoreCapability =
  | 'ids'
  | 'sync'
  | 'clock-steps'
  | 'bounded'
  | 'revisions'
  | 'damage'
  | 'expiry'
  | 'deadline'
  | 'regroup'

/**
 * An ability that a store declares in `can`. Without it, the suite checks that an engine rejects what needs it.
 *
 * - `calendar`: calendar windows.
 * - `bucket`: token buckets.
 * - `holds`: reservations that expire, and all calls in `holds` of counters.
 * - `concurrency`: slots in layers that aren't shared.
 * - `shared-concurrency`: slots in every layer.
 * - `fit`: an overrun that is charged as far as there is room.
 * - `sets`: layers with different limits, and requests that count in some limits of a layer. Without: `open` throws.
 */
export type StoreAbility = 'calendar' | 'bucket' | 'holds' | 'concurrency' | 'shared-concurrency' | 'fit' | 'sets'

/** Requests of a case to the store factory. */
export interface StoreWishes {
  /** The maximum number of subjects in a layer. Only for `bounded` stores. */
  readonly maxSubjects?: number | undefined
}

/** Identifies a row: the windows of one layer and subject. */
export interface RowName {
  readonly layer: string
  /** The subject's key in the layer; `''` in a shared layer. */
  readonly key: string
}

/** A new, empty store, and the means to control its clock. */
export interface StoreHarness {
  readonly store: QuotaStore
  /** The store as another process sees it, through another client of the same data. Default: `store` itself */
  readonly peer?: QuotaStore | undefined
  readonly capabilities: readonly StoreCapability[]
  /** The store's clock. Only {@link advance} and {@link stepClock} move it. */
  readonly clock: Clock
  /** Advances the store's clock by 1 ms or more. */
  advance(ms: number): Answer<void>
  /** Sets the store's clock forward or back. Required for `clock-steps`. */
  stepClock?(ms: number): Answer<void>
  /** Sets the revision of the stored settings; `''`: nothing is stored. Required for `revisions`. */
  storeRevision?(revision: string): Answer<void>
  /** Changes the stored bytes of a row. Required for `damage`. */
  damage?(row: RowName, change: (bytes: Uint8Array) => Uint8Array): Answer<void>
  /** Returns for how many milliseconds a row will be kept; 0: it isn't stored. Required for `expiry`. */
  keptForMs?(row: RowName): Answer<number>
  /** From now on, no call of the store gets a response. Required for `deadline`. */
  silence?(): Answer<void>
  /** Closes what the factory opened. */
  stop(): Answer<void>
}

/** Makes a new, empty store. Called once per case and per random history. */
export type StoreFactory = (wishes: StoreWishes) => Answer<StoreHarness>

/** The harness of a case, with all optional members present. */
export type CaseContext = Required<Omit<StoreHarness, 'peer'>> & { readonly peer: QuotaStore }

interface AnyCase {
  readonly name: string
  readonly wishes?: StoreWishes
  run(context: CaseContext): Promise<void>
}

/** Something that a case needs. */
export type Need = StoreCapability | StoreAbility

/** A case that every store must pass. It throws an `AssertionError` on failure. */
export type ConformanceCase =
  | (AnyCase & { readonly needs?: undefined })
  | (AnyCase & {
      /** The case needs all of these capabilities and abilities. */
      readonly needs: Need | readonly Need[]
      /** The test if one of them is missing. */
      without(context: CaseContext): Promise<void>
    })

/** Stands in for a missing member, and throws if a case uses it. */
export function missing(capability: string, method: string): () => never {
  return () => {
    throw new TypeError(`"${capability}" is declared, but there is no ${method}()`)
  }
}

/** Adds the members that a harness doesn't have. */
export function contextOf(harness: StoreHarness): CaseContext {
  return {
    store: harness.store,
    peer: harness.peer ?? harness.store,
    capabilities: harness.capabilities,
    clock: harness.clock,
    advance: (ms) => harness.advance(ms),
    stepClock: harness.stepClock?.bind(harness) ?? missing('clock-steps', 'stepClock'),
    storeRevision: harness.storeRevision?.bind(harness) ?? missing('revisions', 'storeRevision'),
    damage: harness.damage?.bind(harness) ?? missing('damage', 'damage'),
    keptForMs: harness.keptForMs?.bind(harness) ?? missing('expiry', 'keptForMs'),
    silence: harness.silence?.bind(harness) ?? missing('deadline', 'silence'),
    stop: () => harness.stop(),
  }
}

/** The first need that a store doesn't meet. */
export function missingOf(
  { store, capabilities }: Pick<StoreHarness, 'store' | 'capabilities'>,
  needs: Need | readonly Need[],
): Need | undefined {
  const { calendar, bucket, holds, concurrency, fit, sets } = store.can ?? {}
  const met: Readonly<Record<StoreAbility, boolean>> = {
    calendar: calendar === true,
    bucket: bucket === true,
    holds: holds === true,
    concurrency: concurrency !== undefined,
    'shared-concurrency': concurrency === 'all',
    fit: fit === true,
    sets: sets === true,
  }
  const isMet = (need: Need): boolean =>
    Object.hasOwn(met, need) ? met[need as StoreAbility] : capabilities.includes(need as StoreCapability)
  return [needs].flat().find((need) => !isMet(need))
}

/** Runs one case on a new store. */
export async function runCase(testCase: ConformanceCase, factory: StoreFactory): Promise<void> {
  const harness = await factory(testCase.wishes ?? {})
  const context = contextOf(harness)
  try {
    if (testCase.needs === undefined || missingOf(context, testCase.needs) === undefined) await testCase.run(context)
    else await testCase.without(context)
  } finally {
    await harness.stop()
  }
}

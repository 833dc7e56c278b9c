import type { Clock } from '@scoregw/quota'
import type { Answer, QuotaStore } from '@scoregw/quota/store'

/**
 * What a store, or the harness around it, can do beyond the port. The suite runs every case for every store: where a
 * capability is not declared, it asks instead that the store says so, or does the plain thing.
 *
 * - `ids`: takes requests under a reservation id. Without: throws a `QuotaError`, charging nothing.
 * - `sync`: answers synchronously. Without: an engine on it has no `...Sync` calls.
 * - `clock-steps`: the harness can set the store's clock forward and back. Without: its time never goes back.
 * - `bounded`: holds a number of live subjects that the harness can set. Without: it holds as many as come.
 * - `revisions`: knows the revision of the settings in force. Without: no request is ever stale.
 * - `damage`: the harness can change the stored bytes of a row. Without: a reset begins from zero whatever was there.
 * - `expiry`: the harness can report how long a row will be kept. Without: it is there when it is read.
 * - `deadline`: the harness can silence what answers the store. Without: the store declares no deadline that it
 *   cannot be held to.
 * - `regroup`: own counters go on when a policy goes from one own layer to several. Without: they begin unused.
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
 * What a store says with `can` that it can. Where it does not, the suite asks that an engine refuses what would need it.
 *
 * - `calendar`: windows that are periods of the calendar.
 * - `bucket`: token buckets.
 * - `holds`: reservations that end by themselves, and everything that counters have as `holds`.
 * - `concurrency`: slots in layers of each subject's own.
 * - `shared-concurrency`: slots in every layer.
 * - `fit`: an overrun that is charged as far as there is room.
 */
export type StoreAbility = 'calendar' | 'bucket' | 'holds' | 'concurrency' | 'shared-concurrency' | 'fit'

/** Requests of a case to the store factory. */
export interface StoreWishes {
  /** The maximum number of subjects in a layer and category. Only for `bounded` stores. */
  readonly maxSubjects?: number | undefined
}

/** Identifies a row: the windows of one layer, category and subject. */
export interface RowName {
  readonly layer: string
  readonly category: string
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
      /** What to test if one of them is missing. */
      without(context: CaseContext): Promise<void>
    })

/** Stands in for a missing member, and throws if a case uses it. */
function missing(capability: StoreCapability, method: string): () => never {
  return () => {
    throw new TypeError(`"${capability}" is declared, but there is no ${method}()`)
  }
}

/** Adds the members that a harness doesn't have. */
function contextOf(harness: StoreHarness): CaseContext {
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
  const { calendar, bucket, holds, concurrency, fit } = store.can ?? {}
  const met: Readonly<Record<StoreAbility, boolean>> = {
    calendar: calendar === true,
    bucket: bucket === true,
    holds: holds === true,
    concurrency: concurrency !== undefined,
    'shared-concurrency': concurrency === 'all',
    fit: fit === true,
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

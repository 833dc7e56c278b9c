import type { Clock } from '@scoregw/quota'
import type { Answer, QuotaStore, SettingsStore } from '@scoregw/quota/store'

/** The part of a test runner that the suites need. Vitest, Jest and `node:test` all have it. */
export interface TestRunner {
  describe(name: string, body: () => void): unknown
  it(name: string, test: () => Promise<void>): unknown
}

/** A new, empty store of a port, as two processes see it. */
export interface PortHarness<Port> {
  readonly store: Port
  /** The store as another process sees it, through another client of the same data. Default: `store` itself */
  readonly peer?: Port | undefined
  /** Closes what the factory opened. */
  stop(): Answer<void>
}

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

/** Something that a case needs of a store. */
export type Need = StoreCapability | StoreAbility

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
export interface StoreHarness extends PortHarness<QuotaStore> {
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
}

/**
 * Optional abilities of a settings store, or of its harness. Without one, the suite checks the behaviour named here.
 *
 * - `loss`: the harness can delete everything that is stored. Without: writes stay.
 * - `backup`: the harness can restore an older state. Without: a read returns the newest write.
 * - `announcer`: documents and counters are stored separately, and revisions are announced to the counters. Without:
 *   nothing has to be announced again.
 */
export type SettingsCapability = 'loss' | 'backup' | 'announcer'

/** A new, empty settings store. */
export interface SettingsHarness extends PortHarness<SettingsStore> {
  readonly capabilities: readonly SettingsCapability[]
  /** Deletes everything that is stored, including announcements. Required for `loss`. */
  loseData?(): Answer<void>
  /** Takes a backup. Required for `backup`. */
  backup?(): Answer<void>
  /** Restores the backup. Required for `backup`. */
  restore?(): Answer<void>
  /**
   * The next write of `store` is stored, but its process crashes before it notifies others. Required for `announcer`.
   */
  killAnnouncer?(): Answer<void>
  /** Returns the revision that the counters know; `''`: none. Required for `announcer`. */
  announced?(): Answer<string>
}

/** A harness with all optional members present. */
type Whole<Harness> = Required<{ [Member in keyof Harness]: NonNullable<Harness[Member]> }>

export type CaseContext = Whole<StoreHarness>
export type SettingsContext = Whole<SettingsHarness>

export interface PortContext<Port> {
  readonly store: Port
  readonly peer: Port
}

/** Makes a new, empty store. Called once per case, and once per random history. */
export type Factory<Harness> = (wishes: StoreWishes) => Answer<Harness>
export type StoreFactory = Factory<StoreHarness>
export type SettingsFactory = Factory<SettingsHarness>
export type PortFactory<Port> = Factory<PortHarness<Port>>

/** A case that every store must pass. It throws an `AssertionError` on failure. */
export interface Case<Harness> {
  readonly name: string
  /** What the case needs. If something is missing, {@link run} checks what the store does instead. */
  readonly needs?: readonly string[]
  readonly wishes?: StoreWishes
  run(harness: Harness): Promise<void>
}

export type ConformanceCase = Case<StoreHarness>
export type SettingsCase = Case<SettingsHarness>
export type PortCase<Port> = Case<PortHarness<Port>>

/** The methods of a harness that it needs with a capability. */
const MEANS = {
  stepClock: 'clock-steps',
  storeRevision: 'revisions',
  damage: 'damage',
  keptForMs: 'expiry',
  silence: 'deadline',
  loseData: 'loss',
  backup: 'backup',
  restore: 'backup',
  killAnnouncer: 'announcer',
  announced: 'announcer',
} as const

/** Adds the members that a harness doesn't have. Its methods are functions, so that a case can take some of them. */
function whole(harness: StoreHarness | SettingsHarness): object {
  const { store, peer = store, capabilities, clock } = harness as StoreHarness
  const methods = Object.entries({ advance: '', stop: '', ...MEANS }).map(([name, capability]) => {
    const method = Reflect.get(harness, name) as (() => unknown) | undefined
    const missing = (): never => {
      throw new TypeError(`"${capability}" is declared, but there is no ${name}()`)
    }
    return [name, method?.bind(harness) ?? missing]
  })
  return { store, peer, capabilities, clock, ...Object.fromEntries(methods) }
}

export function contextOf(harness: StoreHarness): CaseContext {
  return whole(harness) as CaseContext
}

export function settingsContextOf(harness: SettingsHarness): SettingsContext {
  return whole(harness) as SettingsContext
}

/** The first need that a store doesn't meet. */
export function missingOf(
  { store, capabilities }: Pick<StoreHarness, 'store' | 'capabilities'>,
  needs: readonly Need[],
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
  const isAbility = (need: Need): need is StoreAbility => Object.hasOwn(met, need)
  return needs.find((need) => !(isAbility(need) ? met[need] : capabilities.includes(need)))
}

/** Runs one case on a new store. */
export async function runCase<Harness extends { stop(): Answer<void> }>(
  testCase: Case<Harness>,
  factory: Factory<Harness>,
): Promise<void> {
  const harness = await factory(testCase.wishes ?? {})
  try {
    await testCase.run(harness)
  } finally {
    await harness.stop()
  }
}

/** Registers cases as tests of a runner. Returns how many there are. */
export function describeCases<EachCase extends { readonly name: string }>(
  { describe, it }: TestRunner,
  name: string,
  cases: readonly EachCase[],
  run: (testCase: EachCase) => Promise<void>,
): number {
  describe(name, () => {
    for (const testCase of cases) it(testCase.name, () => run(testCase))
  })
  return cases.length
}

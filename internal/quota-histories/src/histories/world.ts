import {
  createQuota,
  type Decision,
  isSyncQuota,
  memorySettings,
  type Policy,
  type Quota,
  QuotaError,
  type QuotaRequest,
  type QuotaStatus,
  type Reservation,
  type ReserveRequest,
  type ResumedReservation,
  type Subject,
  type SyncReservation,
} from '@scoregw/quota'
import { type MemorySettings, type NearLimit, storeSchema } from '@scoregw/quota/internal'
import type { Counters } from '@scoregw/quota/store'
import type { StoreHarness } from '@scoregw/quota-testkit'
import { utcCalendar } from '@scoregw/quota-testkit/model'
import { pick, type Scene } from './policies.ts'

/** How long ids are remembered in histories, in milliseconds: less than the windows of most scenes. */
export const ID_TTL_MS = 600_000

/** The default duration of holds, in milliseconds. */
export const HOLD_TTL_MS = 60_000

type AnyReservation = Reservation | SyncReservation

/**
 * The same store as a separate object. Engines of one store object must agree in their limits, those of separate
 * processes need not.
 */
function asAnotherProcess<S extends StoreHarness['store']>(store: S): S {
  return new Proxy(store, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name)
      return typeof value === 'function' ? (value.bind(target) as unknown) : value
    },
  })
}

/** Two engines, as in two processes, on one store and one set of settings. Uses the `...Sync` calls if possible. */
export class World {
  readonly harness: StoreHarness
  readonly reservations: (AnyReservation | ResumedReservation)[] = []
  /** Events of nearly used limits since the last read. */
  near: NearLimit[] = []
  readonly #settingsStore: MemorySettings = memorySettings()
  readonly #engines: [Quota, Quota]
  /** Ends expired holds immediately. The stores do so by themselves a little later. */
  readonly #sweepers: readonly Counters[]

  constructor(harness: StoreHarness, { policy }: Scene) {
    this.harness = harness
    this.#engines = [this.#start(0, policy), this.#start(1, policy)]
    this.#sweepers = this.canHold ? [harness.store.open(storeSchema(policy))] : []
  }

  get canHold(): boolean {
    return this.harness.store.can?.holds === true
  }

  engine(index: number): Quota {
    return pick(this.#engines, index)
  }

  /** Replaces a process by another one with another policy. The old one can still settle its holds. */
  restart(index: number, policy: Policy): void {
    this.#engines[index === 0 ? 0 : 1] = this.#start(index, policy)
  }

  #start(index: number, policy: Policy): Quota {
    const { store, peer = store, clock } = this.harness
    const quota = createQuota({
      policy,
      store: asAnotherProcess(index === 0 ? store : peer),
      settingsStore: this.#settingsStore,
      clock,
      calendar: utcCalendar,
      idTtlMs: ID_TTL_MS,
      holdTtlMs: HOLD_TTL_MS,
      // Some limits are below prices on purpose.
      logger: false,
    })
    quota.on('nearLimit', (near) => this.near.push(near))
    return quota
  }

  async consume(engine: number, request: QuotaRequest): Promise<Decision> {
    const quota = this.engine(engine)
    return isSyncQuota(quota) ? quota.consumeSync(request) : quota.consume(request)
  }

  async peek(engine: number, request: QuotaRequest): Promise<Decision> {
    const quota = this.engine(engine)
    return isSyncQuota(quota) ? quota.peekSync(request) : quota.peek(request)
  }

  /** Reserves, and keeps the handle. A conflict, which the engine throws, becomes a status. */
  async reserve(engine: number, request: ReserveRequest): Promise<AnyReservation | { readonly status: 'conflict' }> {
    const quota = this.engine(engine)
    try {
      const reservation = isSyncQuota(quota) ? quota.reserveSync(request) : await quota.reserve(request)
      this.reservations.push(reservation)
      return reservation
    } catch (error) {
      if (error instanceof QuotaError && error.code === 'id_conflict') return { status: 'conflict' }
      throw error
    }
  }

  /** Continues a hold of any process, and keeps the handle. */
  async resume(engine: number, token: string): Promise<void> {
    this.reservations.push(await this.engine(engine).resume(token))
  }

  async status(
    engine: number,
    subject: Subject,
    options: Pick<QuotaRequest, 'plan' | 'limits'> = {},
  ): Promise<QuotaStatus> {
    const quota = this.engine(engine)
    return isSyncQuota(quota) ? quota.statusSync(subject, options) : quota.status(subject, options)
  }

  /** Ends expired holds. */
  async sweep(): Promise<void> {
    for (const { holds } of this.#sweepers) await holds?.sweep()
  }

  /** Sets the clock to an instant, now or later. */
  async turnTo(instant: number): Promise<void> {
    const ms = instant - this.harness.clock.now()
    if (ms > 0) await this.harness.advance(ms)
    await this.sweep()
  }
}

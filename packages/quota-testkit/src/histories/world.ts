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
  type Subject,
  type SyncReservation,
} from '@scoregw/quota'
import type { MemorySettings } from '@scoregw/quota/store'
import type { StoreHarness } from '../suite/harness.ts'
import { pick, type Scene } from './policies.ts'

/** How long ids are remembered in histories, in milliseconds: shorter than the windows of most scenes. */
export const ID_TTL_MS = 600_000

type AnyReservation = Reservation | SyncReservation

/** Two engines, as of two processes, on one store and one set of settings. Uses the `...Sync` calls where it can. */
export class World {
  readonly harness: StoreHarness
  readonly reservations: AnyReservation[] = []
  readonly #settingsStore: MemorySettings = memorySettings()
  readonly #engines: [Quota, Quota]

  constructor(harness: StoreHarness, { policy }: Scene) {
    this.harness = harness
    this.#engines = [this.#start(0, policy), this.#start(1, policy)]
  }

  engine(index: number): Quota {
    return pick(this.#engines, index)
  }

  /** Another process takes the place of one, with a policy of its own; the old one still settles what it holds. */
  restart(index: number, policy: Policy): void {
    this.#engines[index === 0 ? 0 : 1] = this.#start(index, policy)
  }

  #start(index: number, policy: Policy): Quota {
    const { store, peer = store, clock } = this.harness
    const settingsStore = this.#settingsStore
    return createQuota({ policy, store: index === 0 ? store : peer, settingsStore, clock, idTtlMs: ID_TTL_MS })
  }

  async consume(engine: number, request: QuotaRequest): Promise<Decision> {
    const quota = this.engine(engine)
    return isSyncQuota(quota) ? quota.consumeSync(request) : quota.consume(request)
  }

  async peek(engine: number, request: QuotaRequest): Promise<Decision> {
    const quota = this.engine(engine)
    return isSyncQuota(quota) ? quota.peekSync(request) : quota.peek(request)
  }

  /** Reserves and keeps the handle; a conflict, which the engine throws, is a status here. */
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

  async status(engine: number, subject: Subject): Promise<QuotaStatus> {
    const quota = this.engine(engine)
    return isSyncQuota(quota) ? quota.statusSync(subject) : quota.status(subject)
  }

  /** Turns the clock to an instant that is not before now. */
  async turnTo(instant: number): Promise<void> {
    const ms = instant - this.harness.clock.now()
    if (ms > 0) await this.harness.advance(ms)
  }
}

/** A decision as plain data, with everything in it that a caller can see. */
export function plainDecision(decision: Decision): Readonly<Record<string, unknown>> {
  const { subject, operation, category, cost, now, settingsVersion, source, windows, allowed } = decision
  const common = { subject, operation, category, cost, now, settingsVersion, source, windows, allowed }
  if (decision.allowed) return common
  const { violations, binding, retryable, resetAt, retryAfterMs, retryAfterSeconds } = decision
  return { ...common, violations, binding, retryable, resetAt, retryAfterMs, retryAfterSeconds }
}

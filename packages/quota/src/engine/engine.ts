import type { Decision } from '../decision/decision.ts'
import type { Asked } from '../decision/outcome.ts'
import { QuotaError } from '../errors/quota-error.ts'
import { noSuchName } from '../options/names.ts'
import type { Quotas } from '../policy/limits.ts'
import type { Policy } from '../policy/policy.ts'
import { costsOf } from '../policy/units.ts'
import type { Answer } from '../store/answer.ts'
import type { AsyncHolds, HoldRecord, SyncHolds } from '../store/hold-port.ts'
import type { ResetRequest } from '../store/quota-store.ts'
import type { ReservationId } from '../store/reservation-id.ts'
import type { Subject } from '../store/schema.ts'
import { type QuotaHolds, shownEnd, shownHold } from './admin/holds-admin.ts'
import { type QuotaSettings, type SettingsInForce, settingsAdmin } from './admin/settings-admin.ts'
import { type QuotaSubjects, subjectAdmin } from './admin/subject-admin.ts'
import { askLater } from './decide/unavailable.ts'
import type { EngineParts } from './engine-parts.ts'
import type { QuotaEvent, QuotaListener } from './events.ts'
import type { Quota, QuotaWithin } from './quota.ts'
import type {
  HeldReservation,
  QuotaRequest,
  QuotaStatus,
  Reservation,
  ReservationCalls,
  ReserveRequest,
  ResetOptions,
  ResumedReservation,
  RunResult,
  StatusOptions,
} from './requests.ts'
import type { HeldTokens } from './reservations/hold.ts'
import { holdOfToken, holdRef } from './reservations/hold-token.ts'
import { HoldWatch } from './reservations/hold-watch.ts'

/** What engines do alike, whichever way their stores answer. */
export abstract class Engine implements Quota {
  abstract readonly sync: boolean
  readonly policy: Policy
  readonly holdTtlMs: number | undefined
  readonly settings: QuotaSettings
  readonly subjects: QuotaSubjects
  readonly holds: QuotaHolds
  protected readonly parts: EngineParts
  readonly #watch: HoldWatch
  #closing: Promise<void> | undefined

  constructor(parts: EngineParts) {
    const { policy, settingsStore: store, live, factorStore, clock, calendar } = parts
    this.parts = parts
    this.policy = policy
    this.holdTtlMs = parts.check.holdTtlMs
    this.settings = settingsAdmin(policy, store, live, factorStore !== undefined)
    this.holds = {
      list: async (subject) => (await this.#openHolds(subject)).map((hold) => shownHold(policy, hold)),
      release: (subject, ref) => this.#release(subject, ref),
      sweep: () => this.#sweep(),
    }
    this.#watch = new HoldWatch(() => this.#sweep())
    this.subjects = subjectAdmin({ policy, store, live, settings: this.settings, clock, calendar })
  }

  abstract consume(request: QuotaRequest): Promise<Decision>
  abstract peek(request: QuotaRequest): Promise<Decision>
  abstract reserve(request: ReserveRequest): Promise<Reservation>
  abstract status(subject: Subject, options?: StatusOptions): Promise<QuotaStatus>
  protected abstract closeWindows(request: ResetRequest): Promise<void>
  /** The calls of a hold. */
  protected abstract holdCalls(hold: HeldTokens): ReservationCalls
  /** Asks the store's holds; its errors become `quota_unavailable`. */
  protected abstract askHolds<T>(ask: (holds: SyncHolds | AsyncHolds) => Answer<T>): Promise<T>

  async run<T>(
    request: ReserveRequest,
    work: (reservation: HeldReservation) => T | PromiseLike<T>,
  ): Promise<RunResult<T>> {
    const reservation = await this.reserve(request)
    if (reservation.status === 'refused') return { allowed: false, status: 'refused', decision: reservation.decision }
    if (reservation.status !== 'reserved') return { allowed: false, status: reservation.status }
    const stop = reservation.keepAlive()
    let value: T
    try {
      value = await work(reservation)
    } catch (error) {
      stop()
      // What the work threw is what the caller must hear; tokens whose cancel failed stay charged.
      await reservation.cancel().catch(() => undefined)
      throw error
    }
    stop()
    await reservation.commit()
    return { allowed: true, decision: reservation.decision, value }
  }

  async resume(token: string): Promise<ResumedReservation> {
    this.requireOpen()
    const { check, live } = this.parts
    const { subject, category, operation, plan, id, nonce, fingerprint, slot, ttlMs } = holdOfToken(token)
    const index = this.policy.categories.indexOf(category)
    if (index === -1 || !Object.hasOwn(this.policy.operations, operation)) {
      const message = `token: a hold of "${operation}" in "${category}", which this policy does not have`
      throw new QuotaError('invalid_token', message)
    }
    check.subject(subject)
    await askLater(() => live.ready(), 'the settings store')
    const asked: Asked = { subject, operation, category: index, costs: costsOf(0, slot), plan }
    const reservationId: ReservationId = { id, nonce, fingerprint, ttlMs: check.idTtlMs }
    // A look: no end is moved to now or earlier.
    const look = { subject, category: index, id: reservationId, ttlMs: 0 }
    const { outcome, now, endsAt = now } = await this.askHolds((holds) => holds.extend(look))
    if (outcome === 'unknown') {
      throw new QuotaError('reservation_expired', 'nothing is known of this hold, or not any more')
    }
    const hold = this.parts.held(asked, reservationId, ttlMs, endsAt)
    return Object.assign(this.holdCalls(hold), { status: 'resumed', token, subject, operation } as const)
  }

  async reset(subject: Subject, { layer, category }: ResetOptions = {}): Promise<void> {
    this.requireOpen()
    const layers = this.policy.layers.flatMap(({ name, shared }, index) =>
      (layer === undefined ? !shared : name === layer) ? [index] : [],
    )
    const categories = this.policy.categories.flatMap((name, index) =>
      category === undefined || name === category ? [index] : [],
    )
    const layerNames = this.policy.layers.map(({ name }) => name)
    if (layers.length === 0) throw noSuch('layer', layer, layerNames)
    if (categories.length === 0) throw noSuch('category', category, this.policy.categories)
    this.parts.check.subject(subject)
    await askLater(() => this.closeWindows({ subject, layers, categories }))
  }

  /** Engines whose store has transactions say otherwise. */
  within(_transaction: unknown): QuotaWithin {
    this.requireOpen()
    const message = 'within: this store has no transactions; see what each store can in its page'
    throw new QuotaError('store_unsupported', message)
  }

  inForce(): SettingsInForce {
    const { live } = this.parts
    return { settings: live.compiled.settings, adaptiveFactor: live.factorHundredths / 100 }
  }

  on<E extends QuotaEvent>(event: E, listener: QuotaListener<E>): () => void {
    const off = this.parts.events.on(event, listener)
    if (event === 'holdEnded' && this.parts.store.can?.holds === true) this.#watch.start()
    return () => {
      off()
      if (!this.parts.events.hears('holdEnded')) this.#watch.stop()
    }
  }

  async ready(): Promise<void> {
    this.requireOpen()
    await askLater(() => this.parts.live.ready(), 'the settings store')
    await this.parts.live.factorSettled()
  }

  close(): Promise<void> {
    this.#watch.stop()
    this.#closing ??= this.parts.close()
    return this.#closing
  }

  async #openHolds(subject: Subject): Promise<readonly HoldRecord[]> {
    this.requireOpen()
    this.parts.check.subject(subject)
    return (await this.askHolds((holds) => holds.list({ subject }))).holds
  }

  async #release(subject: Subject, ref: string): Promise<boolean> {
    const { categories } = this.policy
    const found = (await this.#openHolds(subject)).find(
      ({ category, id }) => holdRef(categories[category]!, id) === ref,
    )
    if (found === undefined) return false
    const { category, id, nonce, fingerprint } = found
    const reservationId: ReservationId = { id, nonce, fingerprint, ttlMs: this.parts.check.idTtlMs }
    const quotas: Quotas = { layers: [], limits: [] }
    await this.askHolds((holds) =>
      holds.settle({
        subject,
        category,
        id: reservationId,
        as: 'cancelled',
        overrun: 'refuse',
        maxOverrun: [0],
        quotas,
      }),
    )
    return true
  }

  async #sweep(): Promise<{ readonly open: number; readonly ended: ReturnType<typeof shownEnd>[] }> {
    this.requireOpen()
    const { ended, open } = await this.askHolds((holds) => holds.sweep())
    const shown = ended.map(shownEnd)
    for (const end of shown) this.parts.events.tell('holdEnded', end)
    return { open, ended: shown }
  }

  /** @throws {QuotaError} `holds_unsupported` */
  protected requireHolds<H>(holds: H | undefined): H {
    if (holds !== undefined) return holds
    throw new QuotaError('holds_unsupported', 'this store has no holds; see what each store can in its page')
  }

  protected requireOpen(): void {
    if (this.#closing !== undefined) throw new QuotaError('quota_closed', 'this engine was closed: close it last')
  }
}

function noSuch(what: string, name: string | undefined, names: readonly string[]): QuotaError {
  return new QuotaError('invalid_reset', `no ${what} ${noSuchName(name, names, 'the policy has')}`)
}

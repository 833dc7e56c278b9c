import type { Decision } from '../decision/decision.ts'
import { QuotaError } from '../errors/quota-error.ts'
import { noSuchName } from '../options/names.ts'
import type { Policy } from '../policy/policy.ts'
import type { ResetRequest } from '../store/quota-store.ts'
import type { Subject } from '../store/schema.ts'
import type { EngineParts } from './engine-parts.ts'
import type { QuotaEvent, QuotaListener } from './events.ts'
import type { Quota } from './quota.ts'
import type {
  HeldReservation,
  QuotaRequest,
  QuotaStatus,
  Reservation,
  ReserveRequest,
  ResetOptions,
  RunResult,
} from './requests.ts'
import {
  type QuotaSettings,
  type QuotaSubjects,
  type SettingsInForce,
  settingsAdmin,
  subjectAdmin,
} from './settings-admin.ts'
import { askLater } from './unavailable.ts'

/** What engines do alike, whichever way their stores answer. */
export abstract class Engine implements Quota {
  abstract readonly sync: boolean
  readonly policy: Policy
  readonly settings: QuotaSettings
  readonly subjects: QuotaSubjects
  protected readonly parts: EngineParts
  #closing: Promise<void> | undefined

  constructor(parts: EngineParts) {
    const { policy, settingsStore, live, factorStore } = parts
    this.parts = parts
    this.policy = policy
    this.settings = settingsAdmin(policy, settingsStore, live, factorStore !== undefined)
    this.subjects = subjectAdmin(policy, settingsStore, live)
  }

  abstract consume(request: QuotaRequest): Promise<Decision>
  abstract peek(request: QuotaRequest): Promise<Decision>
  abstract reserve(request: ReserveRequest): Promise<Reservation>
  abstract status(subject: Subject): Promise<QuotaStatus>
  protected abstract closeWindows(request: ResetRequest): Promise<void>

  async run<T>(
    request: ReserveRequest,
    work: (reservation: HeldReservation) => T | PromiseLike<T>,
  ): Promise<RunResult<T>> {
    const reservation = await this.reserve(request)
    if (reservation.status === 'refused') return { allowed: false, status: 'refused', decision: reservation.decision }
    if (reservation.status !== 'reserved') return { allowed: false, status: reservation.status }
    let value: T
    try {
      value = await work(reservation)
    } catch (error) {
      // What the work threw is what the caller must hear; tokens whose cancel failed stay charged.
      await reservation.cancel().catch(() => undefined)
      throw error
    }
    await reservation.commit()
    return { allowed: true, decision: reservation.decision, value }
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

  inForce(): SettingsInForce {
    const { live } = this.parts
    return { settings: live.compiled.settings, adaptiveFactor: live.factorHundredths / 100 }
  }

  on<E extends QuotaEvent>(event: E, listener: QuotaListener<E>): () => void {
    return this.parts.events.on(event, listener)
  }

  async ready(): Promise<void> {
    this.requireOpen()
    await askLater(() => this.parts.live.ready(), 'the settings store')
    await this.parts.live.factorSettled()
  }

  close(): Promise<void> {
    this.#closing ??= this.parts.close()
    return this.#closing
  }

  protected requireOpen(): void {
    if (this.#closing !== undefined) throw new QuotaError('quota_closed', 'this engine was closed: close it last')
  }
}

function noSuch(what: string, name: string | undefined, names: readonly string[]): QuotaError {
  return new QuotaError('invalid_reset', `no ${what} ${noSuchName(name, names, 'the policy has')}`)
}

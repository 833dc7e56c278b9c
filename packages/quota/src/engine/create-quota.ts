import { type DecisionFrame, windowStatuses } from '../decision/decide.ts'
import type { Decision } from '../decision/decision.ts'
import { QuotaError } from '../errors/quota-error.ts'
import { memorySettings } from '../memory/memory-settings.ts'
import { memoryStore } from '../memory/memory-store.ts'
import type { Policy } from '../policy/policy.ts'
import type { VersionedSettings } from '../policy/settings.ts'
import type { FactorStore } from '../store/factor-store.ts'
import { chain, type MaybePromise, type QuotaStore, type Subject } from '../store/quota-store.ts'
import type { SettingsStore } from '../store/settings-store.ts'
import { systemClock } from '../time/clock.ts'
import { orAborted } from './abort.ts'
import { decisionFrames } from './compiled-settings.ts'
import { Decider } from './decider.ts'
import { Events, type QuotaEvent, type QuotaListener } from './events.ts'
import { LiveSettings } from './live-settings.ts'
import { parseQuotaOptions, type QuotaOptions } from './options.ts'
import type { Quota } from './quota.ts'
import type {
  HeldReservation,
  QuotaRequest,
  QuotaStatus,
  Reservation,
  ReserveRequest,
  ResetOptions,
  RunResult,
  SyncReservation,
} from './requests.ts'
import { awaited } from './reservation.ts'
import {
  type QuotaSettings,
  type QuotaSubjects,
  type SettingsInForce,
  settingsAdmin,
  subjectAdmin,
} from './settings-admin.ts'
import { checkSubject, ownLayerNames } from './text.ts'
import { asking } from './unavailable.ts'

/**
 * Makes a quota engine.
 *
 * @throws {QuotaError} `invalid_options`, `invalid_policy` naming every fault; `store_mismatch`
 * @example
 * const quota = createQuota({ policy: defaultPolicy() })
 * const decision = await quota.consume({ subject: 'u42', operation: 'write' })
 * if (!decision.allowed) console.log(`wait ${decision.retryAfterSeconds} s`)
 */
export function createQuota<Operation extends string>(options: QuotaOptions<Operation>): Quota<Operation> {
  return new Engine(options as QuotaOptions) as unknown as Quota<Operation>
}

class Engine implements Quota {
  readonly policy: Policy
  readonly sync: boolean
  readonly settings: QuotaSettings
  readonly subjects: QuotaSubjects
  readonly #store: QuotaStore
  readonly #settingsStore: SettingsStore
  readonly #factorStore: FactorStore | undefined
  readonly #frames: readonly DecisionFrame[]
  readonly #ownLayers: readonly string[]
  readonly #live: LiveSettings
  readonly #events = new Events()
  readonly #decider: Decider
  #closed = false

  constructor(options: QuotaOptions) {
    const { policy, store, settingsStore, adaptive, clock = systemClock, ...rest } = parseQuotaOptions(options)
    this.policy = policy
    this.#store = store ?? memoryStore({ clock })
    this.#settingsStore = settingsStore ?? memorySettings()
    this.#factorStore = adaptive?.factor
    this.sync = this.#store.sync && this.#settingsStore.sync
    this.#frames = decisionFrames(policy)
    this.#ownLayers = ownLayerNames(policy.layers)
    const { windows, categories, layers } = policy
    this.#store.attach({ windows, categories, layers })
    const tell = (settings: VersionedSettings): void => this.#events.tell('settings', settings)
    this.#live = new LiveSettings(policy, this.#settingsStore, tell, this.#factorStore)
    this.#decider = new Decider({
      policy,
      store: this.#store,
      live: this.#live,
      frames: this.#frames,
      events: this.#events,
      clock,
      ...rest,
    })
    this.settings = settingsAdmin(policy, this.#settingsStore, this.#live, adaptive !== undefined)
    this.subjects = subjectAdmin(policy, this.#settingsStore)
  }

  async consume(request: QuotaRequest): Promise<Decision> {
    if (request.signal !== undefined) {
      const reservation = await this.#reserveAbortably(request, request.signal)
      return reservation.decision as Decision
    }
    this.#requireOpen()
    if (!this.#live.loaded) await asking(() => this.#live.ready())
    return this.#decider.consume(request)
  }

  consumeSync(request: QuotaRequest): Decision {
    this.#requireSync()
    return this.#decider.consume(request) as Decision
  }

  async peek(request: QuotaRequest): Promise<Decision> {
    return this.#whenReady(() => this.#decider.peek(request))
  }

  peekSync(request: QuotaRequest): Decision {
    this.#requireSync()
    return this.#decider.peek(request) as Decision
  }

  async reserve(request: ReserveRequest): Promise<Reservation> {
    if (request.signal !== undefined) return this.#reserveAbortably(request, request.signal)
    return awaited(await this.#whenReady(() => this.#decider.reserve(request))) as Reservation
  }

  reserveSync(request: ReserveRequest): SyncReservation {
    this.#requireSync()
    return this.#decider.reserve(request) as SyncReservation
  }

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

  async status(subject: Subject): Promise<QuotaStatus> {
    return this.#whenReady(() => this.#status(subject))
  }

  statusSync(subject: Subject): QuotaStatus {
    this.#requireSync()
    return this.#status(subject) as QuotaStatus
  }

  async reset(subject: Subject, options: ResetOptions = {}): Promise<void> {
    this.#requireOpen()
    const layers = this.policy.layers.flatMap(({ name, shared }, index) =>
      (options.layer === undefined ? !shared : name === options.layer) ? [index] : [],
    )
    const categories = this.policy.categories.flatMap((name, index) =>
      options.category === undefined || name === options.category ? [index] : [],
    )
    if (layers.length === 0)
      throw noSuch(
        'layer',
        options.layer,
        this.policy.layers.map(({ name }) => name),
      )
    if (categories.length === 0) throw noSuch('category', options.category, this.policy.categories)
    checkSubject(subject, this.#ownLayers)
    await asking(() => this.#store.reset({ subject, layers, categories }))
  }

  inForce(): SettingsInForce {
    const { settings } = this.#live.compiled
    return { settings, adaptiveFactor: this.#live.factorHundredths / 100 }
  }

  on<E extends QuotaEvent>(event: E, listener: QuotaListener<E>): () => void {
    return this.#events.on(event, listener)
  }

  async ready(): Promise<void> {
    this.#requireOpen()
    await asking(() => this.#live.ready())
    await this.#live.factorSettled()
  }

  async close(): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    this.#live.close()
    this.#events.clear()
    await this.#store.close?.()
    await this.#settingsStore.close?.()
    await this.#factorStore?.close?.()
  }

  async #reserveAbortably(request: ReserveRequest, signal: AbortSignal): Promise<Reservation> {
    signal.throwIfAborted()
    const pending = Promise.resolve(this.#whenReady(() => this.#decider.reserve(request)))
    return awaited(await orAborted(pending, signal)) as Reservation
  }

  #status(subject: Subject): MaybePromise<QuotaStatus> {
    checkSubject(subject, this.#ownLayers)
    const { categories } = this.policy
    return asking(() =>
      chain(this.#live.quotasOf(subject), (quotas) => {
        const settingsVersion = this.#live.compiled.settings.version
        const { layers } = quotas[0]!
        const read = this.#store.read({ subject, layers, categories: categories.map((_, index) => index) })
        return chain(read, ({ now, states }) => {
          const entries = categories.map((name, index) => {
            const windows = windowStatuses(this.#frames[index]!, quotas[index]!, states[index]!)
            return [name, windows] as const
          })
          return { subject, now, settingsVersion, windows: Object.fromEntries(entries) }
        })
      }),
    )
  }

  #requireOpen(): void {
    if (this.#closed) throw new QuotaError('quota_closed', 'this engine was closed')
  }

  #requireSync(): void {
    this.#requireOpen()
    if (this.sync) return
    const message = 'the ...Sync calls need a store and a settings store that answer at once; use the calls that await'
    throw new QuotaError('sync_unavailable', message)
  }

  #whenReady<T>(call: () => MaybePromise<T>): MaybePromise<T> {
    this.#requireOpen()
    if (this.#live.loaded) return call()
    return chain(
      asking(() => this.#live.ready()),
      call,
    )
  }
}

function noSuch(what: string, name: string | undefined, names: readonly string[]): QuotaError {
  return new QuotaError('invalid_reset', `no ${what} "${name}"; the policy has ${names.join(', ')}`)
}

import type {
  Clock,
  Decision,
  Limit,
  Policy,
  QuotaStatus,
  ResetOptions,
  Settings,
  Subject,
  SubjectSettings,
  UncountedWindow,
  Violation,
  WindowStatus,
} from '@scoregw/quota'
import type { LayerDefinition, WindowDefinition } from '@scoregw/quota/store'
import { effectiveLimit } from './effective-limit.ts'
import { ModelDocuments } from './model-documents.ts'
import { ModelIds } from './model-ids.ts'
import { ModelWindows } from './model-windows.ts'

/** One request to the model. */
export interface ModelRequest {
  readonly subject: Subject
  readonly operation: string
  /** Tokens instead of the operation's price. */
  readonly cost?: number | undefined
}

/** What a reservation of the model came to. */
export interface ModelReservation {
  readonly status: 'reserved' | 'refused' | 'duplicate' | 'cancelled' | 'conflict'
  readonly decision?: Decision | undefined
}

/** Where the tokens of a reservation are, and under which id. */
interface Held {
  readonly tokens: number
  readonly starts: ReadonlyMap<string, number>
  readonly id?: readonly [id: string, holder: string, use: string] | undefined
}

/** A window with all that decides about it. */
interface Counter {
  readonly name: string
  readonly layer: LayerDefinition
  readonly window: WindowDefinition
  readonly limit: Limit
}

/** What the models of all policies on one store have in common. */
interface Shared {
  readonly clock: Clock
  readonly windows: ModelWindows
  readonly ids: ModelIds
  readonly documents: ModelDocuments
  readonly held: Map<ModelReservation, Held>
  holders: number
}

/**
 * What an engine with a store has to answer, written down as plainly as possible: one object for each window, nothing
 * packed, nothing forgotten, no store. It keeps its own settings, which have to be told the same changes. Engines with
 * other policies on the same store have models of their own: see {@link QuotaModel.under}.
 */
export class QuotaModel {
  readonly policy: Policy
  readonly #shared: Shared

  /**
   * @param idTtlMs how long ids are remembered after their last use, in milliseconds
   * @param shared what it has in common with another model; see {@link under}
   */
  constructor(policy: Policy, clock: Clock, idTtlMs = 600_000, shared: Shared = newShared(clock, idTtlMs)) {
    this.policy = policy
    this.#shared = shared
  }

  /** An engine with another policy on the same counters, ids and settings, which go by names. */
  under(policy: Policy): QuotaModel {
    return new QuotaModel(policy, this.#shared.clock, undefined, this.#shared)
  }

  get settings(): Settings {
    return this.#shared.documents.settings(this.policy)
  }

  /** Replaces the named members of the settings. */
  updateSettings(change: Partial<Settings>): void {
    this.#shared.documents.update(this.policy, change)
  }

  /** Sets (or, with `undefined`, removes) one subject's overrides and bypass in a layer. */
  setSubject(layer: string, key: string, settings: SubjectSettings | undefined): void {
    this.#shared.documents.setSubject(this.policy, layer, key, settings)
  }

  consume(request: ModelRequest): Decision {
    return this.#decide(request, true)[0]
  }

  peek(request: ModelRequest): Decision {
    return this.#decide(request, false)[0]
  }

  /** Reserves, under an id if one is given; every call is a holder of its own. */
  reserve(request: ModelRequest, id?: string): ModelReservation {
    if (id === undefined) {
      if (this.#costOf(request) === 0) return { status: 'reserved', decision: this.consume(request) }
      return this.#hold(...this.#decide(request, true), undefined)
    }
    this.#shared.holders++
    const holder = String(this.#shared.holders)
    const name = JSON.stringify([id, this.#categoryOf(request), this.#ownerOf(request.subject)])
    // The price is no part of it: it may change between two tries.
    const use = JSON.stringify([request.operation, request.cost ?? null])
    const answer = this.#shared.ids.ask(name, use)
    if (answer !== 'new') return { status: answer }
    const [decision, starts] = this.#decide(request, true, true)
    if (decision.allowed) this.#shared.ids.reserved(name, holder, use)
    return this.#hold(decision, starts, [name, holder, use])
  }

  /** Settles a reservation for what its work cost; a second settlement does nothing. */
  commit(reservation: ModelReservation, actual?: number): void {
    const held = this.#shared.held.get(reservation)
    this.#shared.held.delete(reservation)
    if (held === undefined) return
    const rest = held.tokens - (actual ?? held.tokens)
    // Nothing to give back: the engine does not even tell the store.
    if (rest === 0) return
    if (held.id === undefined || this.#shared.ids.settle(...held.id, 'settled')) this.#refund(held, rest)
  }

  /** Gives a reservation's tokens back; a second settlement does nothing. */
  cancel(reservation: ModelReservation): void {
    const held = this.#shared.held.get(reservation)
    this.#shared.held.delete(reservation)
    if (held === undefined) return
    if (held.id === undefined || this.#shared.ids.settle(...held.id, 'cancelled')) this.#refund(held, held.tokens)
  }

  reset(subject: Subject, { layer, category }: ResetOptions = {}): void {
    for (const each of this.policy.layers) {
      if (layer === undefined ? each.shared : each.name !== layer) continue
      for (const name of this.policy.categories) {
        if (category !== undefined && category !== name) continue
        for (const window of this.policy.windows) this.#shared.windows.close(windowName(each, subject, name, window))
      }
    }
  }

  status(subject: Subject): QuotaStatus {
    const windows = this.policy.categories.map((category) => [category, this.#show(subject, category)] as const)
    return {
      subject,
      now: this.#shared.clock.now(),
      settingsVersion: this.#shared.documents.version,
      windows: Object.fromEntries(windows),
    }
  }

  /** The instants to come at which a window that is open ends, or an id that is remembered is forgotten. */
  ends(of: 'window' | 'id'): number[] {
    const ends = of === 'window' ? this.#shared.windows.ends() : this.#shared.ids.ends()
    return [...new Set(ends)].sort((a, b) => a - b)
  }

  /** Whether a clock that is turned back by some milliseconds comes to a time when some ids were still known. */
  remembersAgain(backMs: number): boolean {
    const now = this.#shared.clock.now()
    return this.#shared.ids.forgetsBetween(now - backMs, now)
  }

  #hold(decision: Decision, starts: ReadonlyMap<string, number>, id: Held['id']): ModelReservation {
    const reservation: ModelReservation = { status: decision.allowed ? 'reserved' : 'refused', decision }
    if (decision.allowed) this.#shared.held.set(reservation, { tokens: decision.cost, starts, id })
    return reservation
  }

  #refund({ starts }: Held, tokens: number): void {
    for (const [name, startedAt] of starts) this.#shared.windows.refund(name, startedAt, tokens)
  }

  /**
   * One decision, and the windows that were charged with their starts.
   *
   * @param askStore also for what costs nothing, which is admitted and opens no window
   */
  #decide(
    request: ModelRequest,
    forReal: boolean,
    askStore = false,
  ): [decision: Decision, starts: Map<string, number>] {
    const { subject, operation } = request
    const cost = this.#costOf(request)
    const category = this.#categoryOf(request)
    const base = {
      subject,
      operation,
      category,
      cost,
      now: this.#shared.clock.now(),
      settingsVersion: this.#shared.documents.version,
    }
    const starts = new Map<string, number>()
    const windowsNow = this.#show(subject, category)
    if (cost === 0 && askStore) return [{ ...base, allowed: true, source: 'store', windows: windowsNow }, starts]
    if (cost === 0) return [{ ...base, allowed: true, source: 'free', windows: windowsNow.map(uncounted) }, starts]

    const counters = this.#countersOf(subject, category)
    const violations = counters.flatMap((counter) => this.#violation(counter, category, cost))
    if (forReal) {
      for (const { name, window } of counters) {
        if (violations.length === 0) starts.set(name, this.#shared.windows.charge(name, window.lengthMs, cost))
        else this.#shared.windows.moveToThePresent(name)
      }
    }
    const windows = this.#show(subject, category)
    if (violations.length === 0) return [{ ...base, allowed: true, source: 'store', windows }, starts]
    return [{ ...base, allowed: false, source: 'store', windows, ...this.#refusal(violations) }, starts]
  }

  #violation({ name, layer, window, limit }: Counter, category: string, cost: number): Violation[] {
    const open = this.#shared.windows.look(name)
    const used = open?.used ?? 0
    if (limit === 'unlimited' || used + cost <= limit) return []
    const startedAt = open?.startedAt ?? this.#shared.clock.now()
    return [
      {
        layer: layer.name,
        scope: layer.scope,
        category,
        window: window.label,
        lengthMs: window.lengthMs,
        limit,
        used,
        requested: cost,
        resetAt: startedAt + window.lengthMs,
        retryable: cost <= limit,
      },
    ]
  }

  #refusal(violations: readonly Violation[]) {
    const layers = this.policy.layers.map(({ name }) => name)
    const hopeless = violations.filter(({ retryable }) => !retryable)
    const candidates = hopeless.length > 0 ? hopeless : violations
    const resetAt = Math.max(...candidates.map((each) => each.resetAt))
    const latest = candidates.filter((each) => each.resetAt === resetAt)
    const first = Math.min(...latest.map((each) => layers.indexOf(each.layer)))
    const ofFirstLayer = latest.filter((each) => layers.indexOf(each.layer) === first)
    const longest = Math.max(...ofFirstLayer.map((each) => each.lengthMs))
    const binding = ofFirstLayer.find((each) => each.lengthMs === longest)
    if (binding === undefined) throw new RangeError('a refusal without a violation')
    const waitMs = resetAt - this.#shared.clock.now()
    return {
      violations,
      binding,
      retryable: binding.retryable,
      resetAt,
      retryAfterMs: Math.max(1, waitMs),
      retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1000)),
    }
  }

  #show(subject: Subject, category: string): WindowStatus[] {
    return this.#countersOf(subject, category).map(({ name, layer, window, limit }) => {
      const open = this.#shared.windows.look(name)
      const used = open?.used ?? 0
      return {
        layer: layer.name,
        scope: layer.scope,
        category,
        window: window.label,
        lengthMs: window.lengthMs,
        limit,
        used,
        remaining: limit === 'unlimited' ? limit : Math.max(0, limit - used),
        startedAt: open?.startedAt ?? null,
        resetAt: open === undefined ? null : open.startedAt + window.lengthMs,
      }
    })
  }

  /** The counters that a request of this subject and category is judged by. */
  #countersOf(subject: Subject, category: string): Counter[] {
    const { settings } = this
    const bypassed = this.policy.layers.flatMap((layer) => this.#settingsOf(layer, subject)?.bypass ?? [])
    const applying = this.policy.layers.filter(({ name, shared }) =>
      shared ? settings.layers[name]?.enabled === true && !bypassed.includes(name) : true,
    )
    return applying.flatMap((layer) =>
      this.policy.windows.map((window) => ({
        name: windowName(layer, subject, category, window),
        layer,
        window,
        limit: effectiveLimit(settings, this.#settingsOf(layer, subject), { layer, category, label: window.label }),
      })),
    )
  }

  #settingsOf(layer: LayerDefinition, subject: Subject): SubjectSettings | undefined {
    if (layer.shared) return undefined
    return this.#shared.documents.subject(this.policy, layer.name, keyOf(layer, subject))
  }

  #costOf({ operation, cost }: ModelRequest): number {
    return cost ?? this.settings.prices[operation] ?? this.policy.operations[operation]?.cost ?? Number.NaN
  }

  #categoryOf({ operation }: ModelRequest): string {
    const definition = this.policy.operations[operation]
    if (definition === undefined) throw new RangeError(`the policy has no operation "${operation}"`)
    return definition.category
  }

  /** Whose an id is: the subject's key in the first layer of its own. */
  #ownerOf(subject: Subject): string {
    const first = this.policy.layers.find((layer) => !layer.shared)
    if (first === undefined) throw new RangeError('a policy without a layer of its own')
    return keyOf(first, subject)
  }
}

function newShared(clock: Clock, idTtlMs: number): Shared {
  return {
    clock,
    windows: new ModelWindows(clock),
    ids: new ModelIds(clock, idTtlMs),
    documents: new ModelDocuments(),
    held: new Map(),
    holders: 0,
  }
}

/** As seen where no counter was asked. */
function uncounted({ layer, scope, category, window, lengthMs, limit }: WindowStatus): UncountedWindow {
  return {
    layer,
    scope,
    category,
    window,
    lengthMs,
    limit,
    used: null,
    remaining: null,
    startedAt: null,
    resetAt: null,
  }
}

function keyOf({ name, shared }: LayerDefinition, subject: Subject): string {
  if (shared) return 'everybody'
  return typeof subject === 'string' ? subject : (subject[name] ?? '')
}

function windowName(layer: LayerDefinition, subject: Subject, category: string, window: WindowDefinition): string {
  return JSON.stringify([layer.name, keyOf(layer, subject), category, window.label, window.lengthMs])
}

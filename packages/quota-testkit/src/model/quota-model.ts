import {
  type Clock,
  type Decision,
  initialSettings,
  type LayerDefinition,
  type Limit,
  type Policy,
  type QuotaStatus,
  type ResetOptions,
  type Settings,
  type Subject,
  type SubjectSettings,
  type VersionedSettings,
  type Violation,
  type WindowDefinition,
  type WindowStatus,
} from '@scoregw/quota'
import { effectiveLimit } from './effective-limit.ts'
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

/**
 * What an engine with a store has to answer, written down as plainly as possible: one object for each window, nothing
 * packed, nothing forgotten, no store. It keeps its own settings, which have to be told the same changes.
 */
export class QuotaModel {
  readonly policy: Policy
  readonly #clock: Clock
  readonly #windows: ModelWindows
  readonly #ids: ModelIds
  readonly #subjects = new Map<string, SubjectSettings>()
  readonly #held = new Map<ModelReservation, Held>()
  #settings: VersionedSettings
  #holders = 0

  /** @param idTtlMs how long ids are remembered after their last use, in milliseconds */
  constructor(policy: Policy, clock: Clock, idTtlMs = 600_000) {
    this.policy = policy
    this.#clock = clock
    this.#windows = new ModelWindows(clock)
    this.#ids = new ModelIds(clock, idTtlMs)
    this.#settings = initialSettings(policy)
  }

  get settings(): VersionedSettings {
    return this.#settings
  }

  /** Replaces the named members of the settings. */
  updateSettings(change: Partial<Settings>): void {
    this.#settings = { ...this.#settings, ...change, version: this.#settings.version + 1 }
  }

  /** Sets (or, with `undefined`, removes) one subject's overrides and bypass in a layer. */
  setSubject(layer: string, key: string, settings: SubjectSettings | undefined): void {
    const name = JSON.stringify([layer, key])
    if (settings === undefined) this.#subjects.delete(name)
    else this.#subjects.set(name, settings)
  }

  consume(request: ModelRequest): Decision {
    return this.#decide(request, true)[0]
  }

  peek(request: ModelRequest): Decision {
    return this.#decide(request, false)[0]
  }

  /** Reserves, under an id if one is given; every call is a holder of its own. */
  reserve(request: ModelRequest, id?: string): ModelReservation {
    if (this.#costOf(request) === 0) return { status: 'reserved', decision: this.consume(request) }
    if (id === undefined) return this.#hold(...this.#decide(request, true), undefined)
    this.#holders++
    const holder = String(this.#holders)
    const name = JSON.stringify([id, this.#categoryOf(request), this.#keysOf(request.subject)])
    const use = JSON.stringify([request.operation, this.#costOf(request)])
    const answer = this.#ids.ask(name, use)
    if (answer !== 'new') return { status: answer }
    const [decision, starts] = this.#decide(request, true)
    if (decision.allowed) this.#ids.reserved(name, holder, use)
    return this.#hold(decision, starts, [name, holder, use])
  }

  /** Settles a reservation for what its work cost; a second settlement does nothing. */
  commit(reservation: ModelReservation, actual?: number): void {
    const held = this.#held.get(reservation)
    this.#held.delete(reservation)
    if (held === undefined) return
    const rest = held.tokens - (actual ?? held.tokens)
    // Nothing to give back: the engine does not even tell the store.
    if (rest === 0) return
    if (held.id === undefined || this.#ids.settle(...held.id, 'settled')) this.#refund(held, rest)
  }

  /** Gives a reservation's tokens back; a second settlement does nothing. */
  cancel(reservation: ModelReservation): void {
    const held = this.#held.get(reservation)
    this.#held.delete(reservation)
    if (held === undefined) return
    if (held.id === undefined || this.#ids.settle(...held.id, 'cancelled')) this.#refund(held, held.tokens)
  }

  reset(subject: Subject, { layer, category }: ResetOptions = {}): void {
    for (const each of this.policy.layers) {
      if (layer === undefined ? each.shared : each.name !== layer) continue
      for (const name of this.policy.categories) {
        if (category !== undefined && category !== name) continue
        for (const window of this.policy.windows) this.#windows.close(windowName(each, subject, name, window))
      }
    }
  }

  status(subject: Subject): QuotaStatus {
    const windows = this.policy.categories.map((category) => [category, this.#show(subject, category)] as const)
    return {
      subject,
      now: this.#clock.now(),
      settingsVersion: this.#settings.version,
      windows: Object.fromEntries(windows),
    }
  }

  /** The instants to come at which a window that is open ends, or an id that is remembered is forgotten. */
  ends(of: 'window' | 'id'): number[] {
    const ends = of === 'window' ? this.#windows.ends() : this.#ids.ends()
    return [...new Set(ends)].sort((a, b) => a - b)
  }

  /** Whether a clock that is turned back by some milliseconds comes to a time when some ids were still known. */
  remembersAgain(backMs: number): boolean {
    const now = this.#clock.now()
    return this.#ids.forgetsBetween(now - backMs, now)
  }

  #hold(decision: Decision, starts: ReadonlyMap<string, number>, id: Held['id']): ModelReservation {
    const reservation: ModelReservation = { status: decision.allowed ? 'reserved' : 'refused', decision }
    if (decision.allowed) this.#held.set(reservation, { tokens: decision.cost, starts, id })
    return reservation
  }

  #refund({ starts }: Held, tokens: number): void {
    for (const [name, startedAt] of starts) this.#windows.refund(name, startedAt, tokens)
  }

  /** One decision, and the windows that were charged with their starts. */
  #decide(request: ModelRequest, forReal: boolean): [decision: Decision, starts: Map<string, number>] {
    const { subject, operation } = request
    const cost = this.#costOf(request)
    const category = this.#categoryOf(request)
    const base = { subject, operation, category, cost, now: this.#clock.now(), settingsVersion: this.#settings.version }
    const starts = new Map<string, number>()
    if (cost === 0) return [{ ...base, allowed: true, source: 'free', windows: [] }, starts]

    const counters = this.#countersOf(subject, category)
    const violations = counters.flatMap((counter) => this.#violation(counter, category, cost))
    if (forReal) {
      for (const { name, window } of counters) {
        if (violations.length === 0) starts.set(name, this.#windows.charge(name, window.lengthMs, cost))
        else this.#windows.moveToThePresent(name)
      }
    }
    const windows = this.#show(subject, category)
    if (violations.length === 0) return [{ ...base, allowed: true, source: 'store', windows }, starts]
    return [{ ...base, allowed: false, source: 'store', windows, ...this.#refusal(violations) }, starts]
  }

  #violation({ name, layer, window, limit }: Counter, category: string, cost: number): Violation[] {
    const open = this.#windows.look(name)
    const used = open?.used ?? 0
    if (limit === 'unlimited' || used + cost <= limit) return []
    const startedAt = open?.startedAt ?? this.#clock.now()
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
    const waitMs = resetAt - this.#clock.now()
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
      const open = this.#windows.look(name)
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
    const settings = this.#settings
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
    return layer.shared ? undefined : this.#subjects.get(JSON.stringify([layer.name, keyOf(layer, subject)]))
  }

  #costOf({ operation, cost }: ModelRequest): number {
    return cost ?? this.#settings.prices[operation] ?? this.policy.operations[operation]?.cost ?? Number.NaN
  }

  #categoryOf({ operation }: ModelRequest): string {
    const definition = this.policy.operations[operation]
    if (definition === undefined) throw new RangeError(`the policy has no operation "${operation}"`)
    return definition.category
  }

  #keysOf(subject: Subject): string[] {
    return this.policy.layers.filter((layer) => !layer.shared).map((layer) => keyOf(layer, subject))
  }
}

function keyOf({ name, shared }: LayerDefinition, subject: Subject): string {
  if (shared) return 'everybody'
  return typeof subject === 'string' ? subject : (subject[name] ?? '')
}

function windowName(layer: LayerDefinition, subject: Subject, category: string, window: WindowDefinition): string {
  return JSON.stringify([layer.name, keyOf(layer, subject), category, window.label])
}

import type {
  Counting as AnyCounting,
  LimitStatus,
  Decision as NamedDecision,
  Refusal,
  UncountedLimit,
} from '@scoregw/quota'
import { type Names, writtenOf } from './named.ts'
import type { Decision, Policy } from './shapes.ts'

type AnyLimit = LimitStatus<AnyCounting> | UncountedLimit<AnyCounting> | Refusal<AnyCounting>
type AnyDecision = NamedDecision<AnyCounting>
type AnyRecord = Readonly<Record<string, unknown>>

/** Converts between values by name and those of tables. */
export class Shapes {
  readonly policy: Policy
  readonly names: Names

  constructor(policy: Policy, names: Names) {
    this.policy = policy
    this.names = names
  }

  categoryOf(operation: string): string {
    return Object.hasOwn(this.policy.operations, operation) ? (this.policy.operations[operation]?.category ?? '') : ''
  }

  window({ name, by: _, shared: __, title, unit, ...rest }: AnyLimit & { readonly from?: string }): object {
    const { from: ___, ...shown } = rest
    const { layer, category, window } = this.names.placeOf(name)
    const { units } = writtenOf(this.policy)
    const scope = title
    const { kind, lengthMs, ...others } = shown
    return { layer, scope, category, window, kind, ...(units === undefined ? {} : { unit }), lengthMs, ...others }
  }

  /** A decision with the former members. The new ones can be read, but aren't listed. */
  decision(decision: AnyDecision | undefined): Decision {
    if (decision === undefined) return undefined as never
    return new TableDecision(decision, this) as never
  }

  reservation(reservation: object): object {
    const shapes = this
    return new Proxy(reservation, {
      get(target, key) {
        const value: unknown = Reflect.get(target, key)
        if (key === 'decision') return shapes.decision(value as never)
        if (key === 'add' && typeof value === 'function') {
          return (cost: unknown) => {
            const answer = (value as (cost: unknown) => unknown).call(target, cost)
            return answer instanceof Promise
              ? answer.then((each) => shapes.decision(each))
              : shapes.decision(answer as never)
          }
        }
        return typeof value === 'function' ? (value as (...args: unknown[]) => unknown).bind(target) : value
      },
    })
  }

  result(result: { readonly decision?: unknown }): object {
    return result.decision === undefined ? result : { ...result, decision: this.decision(result.decision as never) }
  }

  status(status: { readonly limits: object }): object {
    const { limits, ...rest } = status
    const all = Object.values(limits).map((limit) => this.window(limit)) as { readonly category: string }[]
    const windows = this.policy.categories.map((category) => [
      category,
      all.filter((each) => each.category === category),
    ])
    return Object.defineProperty({ ...rest, windows: Object.fromEntries(windows) }, 'limits', { value: limits })
  }

  resetOf({ layer, category, ...others }: AnyRecord): object {
    if (layer === undefined && category === undefined) return others
    const isShared = (name: string): boolean => this.policy.layers.find((each) => each.name === name)?.shared === true
    const limits = (this.policy as unknown as { limits: readonly { readonly name: string }[] }).limits
    const chosen = limits.filter(({ name }) => {
      const place = this.names.placeOf(name)
      const isLayer = layer === undefined ? !isShared(place.layer) : place.layer === layer
      return isLayer && (category === undefined || place.category === category)
    })
    return { ...others, limits: chosen.length === 0 ? [String(layer ?? category)] : chosen.map(({ name }) => name) }
  }

  /** Settings as tables. */
  settings(settings: AnyRecord): object {
    const { limits, custom, shared, shadow, plans, ...rest } = settings as Readonly<Record<string, AnyRecord>>
    const byLayer = this.policy.layers.flatMap(({ name: layer }) => {
      const labels = [...this.#labels()].filter((window) =>
        this.policy.categories.some((category) => shadow?.[this.names.nameOf({ layer, category, window })] === true),
      )
      if (labels.length === 0) return []
      return [[layer, labels.length === this.#labels().length ? 'all' : labels] as const]
    })
    const tables = Object.entries(plans ?? {}).map(([plan, numbers]) => [plan, this.names.table(numbers as never)])
    return {
      ...rest,
      base: this.names.table(limits ?? {}),
      custom: custom === null || custom === undefined ? null : this.names.table(custom),
      layers: shared,
      shadow: Object.fromEntries(byLayer),
      plans: Object.fromEntries(tables),
    }
  }

  #labels(): readonly string[] {
    const { windows, concurrency } = this.policy
    return [...windows.map(({ label }) => label), ...(concurrency === undefined ? [] : [concurrency.label])]
  }

  /** A patch, or a document, of settings by name. */
  patch(settings: AnyRecord, isWhole = false): never {
    if (typeof settings !== 'object' || settings === null) return settings as never
    const { base, custom, layers, shadow, plans, ...rest } = settings
    const flat = (table: unknown): unknown =>
      table === null || typeof table !== 'object' ? table : this.names.flat(table as never)
    const ofPlans = (of: unknown): unknown =>
      of === null || typeof of !== 'object'
        ? of
        : Object.fromEntries(Object.entries(of).map(([plan, table]) => [plan, flat(table)]))
    return {
      ...rest,
      ...(base !== undefined && { limits: flat(base) }),
      ...(custom !== undefined && { custom: flat(custom) }),
      ...(layers !== undefined && { shared: layers }),
      ...(shadow !== undefined && { shadow: shadow === null ? null : this.#shadow(shadow as AnyRecord, isWhole) }),
      ...(plans !== undefined && { plans: ofPlans(plans) }),
    } as never
  }

  #shadow(shadow: AnyRecord, isWhole: boolean): object {
    const none = isWhole ? undefined : null
    const entries = Object.entries(shadow).flatMap(([layer, value]) =>
      this.policy.categories.flatMap((category) =>
        this.#labels().map((window) => {
          const isIn = value === 'all' || (Array.isArray(value) && value.includes(window))
          return [this.names.nameOf({ layer, category, window }), isIn ? true : none] as const
        }),
      ),
    )
    const known = new Set((this.policy as unknown as { limits: { name: string }[] }).limits.map(({ name }) => name))
    return Object.fromEntries(entries.filter(([name, value]) => known.has(name) && value !== undefined))
  }

  /** A subject's settings as tables. */
  subject(settings: AnyRecord): object {
    const { limits, bypass, until, blocked: _, ...rest } = settings as Readonly<Record<string, AnyRecord>>
    const overrides: Record<string, Record<string, unknown>> = Object.fromEntries(
      this.policy.categories.map((category) => [category, {}]),
    )
    for (const [name, value] of Object.entries(limits ?? {})) {
      const { category, window } = this.names.placeOf(name)
      const ofCategory = overrides[category] ?? {}
      overrides[category] = ofCategory
      ofCategory[window] = value
    }
    const bypassed = Object.entries(bypass ?? {}).flatMap(([layer, isOn]) => (isOn === true ? [layer] : []))
    return {
      overrides,
      bypass: bypassed,
      ...rest,
      until: { overrides: until?.limits ?? null, plan: until?.plan ?? null },
    }
  }

  /** A subject's settings by name. */
  ofSubject(layer: string, settings: AnyRecord): never {
    if (typeof settings !== 'object' || settings === null) return settings as never
    const { overrides, bypass, until, ...rest } = settings as Readonly<Record<string, AnyRecord | null>>
    const ends =
      until &&
      Object.fromEntries(Object.entries(until).map(([part, end]) => [part === 'overrides' ? 'limits' : part, end]))
    const shared = this.policy.layers.filter((each) => each.shared).map(({ name }) => name)
    const list = bypass as readonly string[] | null | undefined
    const switches = Array.isArray(list)
      ? Object.fromEntries([...new Set([...shared, ...list])].map((name) => [name, list.includes(name)]))
      : list
    return {
      ...rest,
      ...(overrides !== undefined && {
        limits: overrides === null ? null : this.names.flat({ [layer]: overrides as never }),
      }),
      ...(bypass !== undefined && { bypass: switches }),
      ...(until !== undefined && { until: ends }),
    } as never
  }

  event(event: string, payload: unknown): unknown {
    if (['admitted', 'refused', 'shadowed'].includes(event)) return this.decision(payload as never)
    if (typeof payload !== 'object' || payload === null) return payload
    if (event === 'settings') return this.settings(payload as AnyRecord)
    if (event === 'nearLimit') {
      const { decision, limit, ...rest } = payload as { readonly decision: AnyDecision; readonly limit: AnyLimit }
      return { ...rest, decision: this.decision(decision), window: this.window(limit) }
    }
    const { operation } = payload as { readonly operation?: string }
    return operation === undefined ? payload : { ...payload, category: this.categoryOf(operation) }
  }
}

/** The former members are listed. Those by name can be read. */
class TableDecision {
  readonly #decision: AnyDecision

  constructor(decision: AnyDecision, shapes: Shapes) {
    this.#decision = decision
    const { allowed, subject, operation, cost, now, settingsVersion, source } = decision
    const category = shapes.categoryOf(operation)
    const window = (limit: AnyLimit): object => shapes.window(limit)
    Object.assign(this, { allowed, subject, operation, category, cost, now, settingsVersion, source })
    const listed: Record<string, () => unknown> = {
      windows: () => Object.values(decision.limits).flatMap((limit) => (limit === undefined ? [] : [window(limit)])),
      shadowed: () => decision.shadowed.map(window),
    }
    if (!decision.allowed) {
      listed.violations = () => decision.refusals.map(window)
      listed.binding = () => window(decision.refusedBy)
      listed.retryable = () => decision.retryable
      listed.resetAt = () => decision.resetAt
      listed.retryAfterMs = () => Math.max(1, decision.resetAt - decision.now)
      listed.retryAfterSeconds = () => Math.max(1, Math.ceil((decision.resetAt - decision.now) / 1000))
    }
    for (const [name, get] of Object.entries(listed)) Object.defineProperty(this, name, { get, enumerable: true })
  }

  get limits(): unknown {
    return this.#decision.limits
  }

  get refusals(): unknown {
    return this.#decision.allowed ? undefined : this.#decision.refusals
  }

  get refusedBy(): unknown {
    return this.#decision.allowed ? undefined : this.#decision.refusedBy
  }

  toJSON(): object {
    return { ...this }
  }
}

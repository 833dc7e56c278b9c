import type { Clock, LimitStatus, Policy, Subject, SubjectSettings } from '@scoregw/quota'
import type { CalendarWindow, LayerDefinition, LimitRule, WindowDefinition } from '@scoregw/quota/internal'
import { type EffectiveLimit, effectiveLimit, type ModelNumbers } from './effective-limit.ts'
import type { ModelLimit } from './model-counters.ts'
import type { ModelDocuments } from './model-documents.ts'
import { counterOf, counts, keyOf, kindOf, layerOf } from './model-names.ts'
import type { ModelSpan } from './model-windows.ts'

/**
 * Returns the period of a calendar window at an instant, in epoch milliseconds: its start, its end, and the end of the
 * next one. Windows with `anchor: 'subject'` use the subject's anchor, including its history.
 */
export type ModelCalendar = (
  window: CalendarWindow,
  at: number,
  anchor: SubjectSettings['anchor'],
) => readonly [start: number, end: number, nextEnd: number]

/** Identifies the counters of a request. */
export interface CellsOf {
  readonly subject: Subject
  /** Absent: every limit. */
  readonly operation?: string | undefined
  readonly plan?: string | undefined
  readonly limits?: ModelNumbers | undefined
}

/** A limit of a request, with everything that a decision needs. */
export interface ModelCell extends EffectiveLimit {
  /** The name of its counter. */
  readonly name: string
  readonly rule: LimitRule
  readonly layer: LayerDefinition
  /** Whether the subject has a key in the layer, or the shared layer is on for it. */
  readonly applies: boolean
  readonly kind: LimitStatus['kind']
  readonly enforced: boolean
  /** Present for windows. */
  readonly span: ModelSpan | undefined
  /** The subject's in this layer. */
  readonly anchor: SubjectSettings['anchor']
}

/** Determines the counters of requests and their limits, from policy and settings. */
export class ModelCells {
  readonly policy: Policy
  readonly #documents: ModelDocuments
  readonly #clock: Clock
  readonly #calendar: ModelCalendar | undefined

  constructor(policy: Policy, documents: ModelDocuments, clock: Clock, calendar: ModelCalendar | undefined) {
    this.policy = policy
    this.#documents = documents
    this.#clock = clock
    this.#calendar = calendar
  }

  /** When parts of the subject's settings end, after now. */
  endsOf(subject: Subject): number[] {
    const ends = this.policy.layers.flatMap((layer) => Object.values(this.#storedOf(layer, subject)?.until ?? {}))
    return ends.filter((end) => end !== null && end > this.#clock.now()) as number[]
  }

  /** The layers that block a subject at an instant. */
  blockedBy(subject: Subject, at: number): readonly LayerDefinition[] {
    return this.policy.layers.filter((layer) => this.#settingsOf(layer, subject, at)?.blocked === true)
  }

  /**
   * Returns the limits that decide a request, in the policy's order.
   *
   * @param at the instant whose limits they have; periods are today's
   */
  of(request: CellsOf, at: number = this.#clock.now()): ModelCell[] {
    return this.all(request, at).filter(({ applies, rule }) => applies && counts(rule, request.operation))
  }

  /** Returns every limit of the policy. */
  all({ subject, plan, limits }: CellsOf, at: number = this.#clock.now()): ModelCell[] {
    const settings = this.#documents.settings(this.policy)
    const stored = this.policy.layers.map((layer) => [layer.name, this.#settingsOf(layer, subject, at)] as const)
    const subjects = new Map(stored.filter((entry): entry is [string, SubjectSettings] => entry[1] !== undefined))
    const terms = { policy: this.policy, settings, subjects, plan, numbers: limits }
    const isBypassed = (name: string): boolean => [...subjects.values()].some(({ bypass }) => bypass[name] === true)
    return this.policy.limits.map((rule): ModelCell => {
      const layer = layerOf(this.policy, rule)
      const isOn = settings.shared[layer.name]?.enabled === true && !isBypassed(layer.name)
      const effective = effectiveLimit(terms, rule)
      const anchor = subjects.get(layer.name)?.anchor ?? null
      return {
        ...effective,
        name: counterOf(layer, subject, rule),
        rule,
        layer,
        applies: layer.shared ? isOn : keyOf(layer, subject) !== null,
        kind: kindOf(rule),
        enforced: !(settings.shadow[rule.name] ?? rule.shadow),
        span: rule.window && this.#span(rule.window, anchor, effective),
        anchor,
      }
    })
  }

  /** The period of a calendar window at an instant, according to the cell's anchor. */
  period(
    window: CalendarWindow,
    at: number,
    { anchor }: Pick<ModelCell, 'anchor'>,
  ): readonly [start: number, end: number] {
    if (this.#calendar === undefined) throw new RangeError('the model has no calendar')
    const [start, end] = this.#calendar(window, at, anchor)
    return [start, end]
  }

  /** Whether any limit counts the operation's concurrency. */
  takesSlot(operation: string): boolean {
    return this.policy.limits.some((rule) => rule.window === undefined && counts(rule, operation))
  }

  #span(window: WindowDefinition, anchor: ModelCell['anchor'], { limit }: EffectiveLimit): ModelSpan {
    if (window.burst !== undefined) return { perMs: window.lengthMs, rate: typeof limit === 'number' ? limit : 0 }
    if (window.every === undefined) return { lengthMs: window.lengthMs }
    const [periodStart, periodEnd] = this.period(window, this.#clock.now(), { anchor })
    return { periodStart, periodEnd }
  }

  #storedOf(layer: LayerDefinition, subject: Subject): SubjectSettings | undefined {
    const key = layer.shared ? null : keyOf(layer, subject)
    return key === null ? undefined : this.#documents.subject(this.policy, layer.name, key)
  }

  #settingsOf(layer: LayerDefinition, subject: Subject, at: number): SubjectSettings | undefined {
    const stored = this.#storedOf(layer, subject)
    if (stored === undefined) return undefined
    const isOver = (part: keyof SubjectSettings['until']): boolean =>
      at >= (stored.until[part] ?? Number.POSITIVE_INFINITY)
    return {
      ...stored,
      limits: isOver('limits') ? {} : stored.limits,
      plan: isOver('plan') ? null : stored.plan,
      blocked: stored.blocked && !isOver('blocked'),
    }
  }
}

/** The windows of these cells, as inputs of a charge. */
export function enforcedWindows(cells: readonly ModelCell[]): ModelLimit[] {
  return cells.flatMap(({ name, span, rule: { unit }, most, enforced }) =>
    span === undefined ? [] : [{ name, span, unit, limit: enforced ? asNumber(most) : Number.POSITIVE_INFINITY }],
  )
}

/** The slots of these cells, as inputs of a charge. */
export function enforcedSlots(cells: readonly ModelCell[]): { name: string; limit: number }[] {
  return cells.flatMap(({ name, kind, limit, enforced }) =>
    kind === 'concurrency' ? [{ name, limit: enforced ? asNumber(limit) : Number.POSITIVE_INFINITY }] : [],
  )
}

export function asNumber(limit: EffectiveLimit['limit']): number {
  return limit === 'unlimited' ? Number.POSITIVE_INFINITY : limit
}

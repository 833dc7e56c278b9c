import type { Clock, Limit, Policy, Subject, SubjectSettings, WindowStatus } from '@scoregw/quota'
import type { CalendarWindow, LayerDefinition, OperationDefinition, WindowDefinition } from '@scoregw/quota/store'
import { effectiveLimit, isShadowed } from './effective-limit.ts'
import type { ModelLimit } from './model-counters.ts'
import type { ModelDocuments } from './model-documents.ts'
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
  readonly category: string
  readonly plan?: string | undefined
}

/** A limit that applies to a request, with everything that a decision needs. */
export interface ModelCell {
  /** The name of its counter. */
  readonly name: string
  readonly layer: LayerDefinition
  readonly category: string
  readonly label: string
  readonly kind: WindowStatus['kind']
  /** `undefined`: no limit here, but its slots are still counted. */
  readonly limit: Limit | undefined
  /** The most tokens at one time: a bucket's burst, otherwise the limit. */
  readonly most: Limit | undefined
  readonly enforced: boolean
  /** Present for windows. */
  readonly window?: WindowDefinition | undefined
  readonly span?: ModelSpan | undefined
  /** The subject's in this layer. */
  readonly anchor: SubjectSettings['anchor']
}

/** A limit of each row, and the part of its counter's name that follows the row. */
interface NamedLimit extends Pick<ModelCell, 'label' | 'kind' | 'window'> {
  readonly identity: string
}

/** Determines the counters of requests and their limits, from policy and settings. */
export class ModelCells {
  readonly policy: Policy
  readonly #limits: readonly NamedLimit[]
  readonly #documents: ModelDocuments
  readonly #clock: Clock
  readonly #calendar: ModelCalendar | undefined

  constructor(policy: Policy, documents: ModelDocuments, clock: Clock, calendar: ModelCalendar | undefined) {
    this.policy = policy
    const { windows, concurrency } = policy
    const ofWindows = windows.map((window) => {
      return { label: window.label, window, identity: identityOf(window), kind: kindOf(window) }
    })
    const slots = { label: concurrency?.label ?? '', identity: JSON.stringify(['slots', concurrency?.label]) }
    this.#limits = concurrency === undefined ? ofWindows : [...ofWindows, { ...slots, kind: 'concurrency' as const }]
    this.#documents = documents
    this.#clock = clock
    this.#calendar = calendar
  }

  /** When overrides and plans of the subject end, after now. */
  endsOf(subject: Subject): number[] {
    return this.policy.layers.flatMap((layer) => {
      const stored = layer.shared ? undefined : this.#storedOf(layer, subject)
      const ends = stored === undefined ? [] : [stored.until.overrides, stored.until.plan]
      return ends.filter((end) => end !== null).filter((end) => end > this.#clock.now())
    })
  }

  /**
   * Returns the counters that decide a request: by layer, the windows in the policy's order, then slots.
   *
   * @param at the instant whose limits they have; periods are today's
   */
  of({ subject, category, plan }: CellsOf, at: number = this.#clock.now()): ModelCell[] {
    const settings = this.#documents.settings(this.policy)
    const bypassed = this.policy.layers.flatMap((layer) => this.#settingsOf(layer, subject, at)?.bypass ?? [])
    const applying = this.policy.layers.filter(({ name, shared }) =>
      shared ? settings.layers[name]?.enabled === true && !bypassed.includes(name) : true,
    )
    return applying.flatMap((layer) => {
      const terms = { policy: this.policy, settings, subject: this.#settingsOf(layer, subject, at), plan }
      const anchor = terms.subject?.anchor ?? null
      const row = rowOf(layer, subject, category)
      return this.#limits.map(({ label, window, identity, kind }): ModelCell => {
        const of = { layer, category, label, isSlots: window === undefined }
        const limit = effectiveLimit(terms, of)
        const span = window && this.#span(window, anchor, limit)
        const name = row + identity
        return {
          name,
          layer,
          category,
          label,
          kind,
          window,
          span,
          anchor,
          limit,
          most: mostOf(window, limit),
          enforced: !isShadowed(settings, of),
        }
      })
    })
  }

  /** The counter names of a layer's windows, whether or not the layer applies. */
  windowNames(layer: LayerDefinition, { subject, category }: CellsOf): string[] {
    const row = rowOf(layer, subject, category)
    return this.policy.windows.map((window) => row + identityOf(window))
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
    const { concurrency, layers, base } = this.policy
    const { category } = operationOf(this.policy, operation)
    const isNamed = concurrency?.operations?.includes(operation) || concurrency?.categories?.includes(category)
    const label = concurrency?.label ?? ''
    return isNamed === true && layers.some(({ name }) => base[name]?.[category]?.[label] !== undefined)
  }

  #span(window: WindowDefinition, anchor: ModelCell['anchor'], limit: Limit | undefined): ModelSpan {
    if (window.burst !== undefined) return { perMs: window.lengthMs, rate: typeof limit === 'number' ? limit : 0 }
    if (window.every === undefined) return { lengthMs: window.lengthMs }
    const [periodStart, periodEnd] = this.period(window, this.#clock.now(), { anchor })
    return { periodStart, periodEnd }
  }

  #storedOf(layer: LayerDefinition, subject: Subject): SubjectSettings | undefined {
    return this.#documents.subject(this.policy, layer.name, keyOf(layer, subject))
  }

  #settingsOf(layer: LayerDefinition, subject: Subject, at: number): SubjectSettings | undefined {
    const stored = layer.shared ? undefined : this.#storedOf(layer, subject)
    if (stored === undefined) return undefined
    const isOver = (until: number | null): boolean => until !== null && at >= until
    return {
      ...stored,
      overrides: isOver(stored.until.overrides) ? {} : stored.overrides,
      plan: isOver(stored.until.plan) ? null : stored.plan,
    }
  }
}

/** The windows of these cells, as inputs of a charge. */
export function enforcedWindows(cells: readonly ModelCell[]): ModelLimit[] {
  return cells.flatMap(({ name, span, most, enforced }) =>
    span === undefined
      ? []
      : [{ name, span, unit: 'tokens', limit: enforced ? inTokens(most) : Number.POSITIVE_INFINITY }],
  )
}

/** The slots of these cells, as inputs of a charge. */
export function enforcedSlots(cells: readonly ModelCell[]): { name: string; limit: number }[] {
  return cells.flatMap(({ name, kind, limit, enforced }) =>
    kind === 'concurrency' ? [{ name, limit: enforced ? inTokens(limit) : Number.POSITIVE_INFINITY }] : [],
  )
}

/** How much of a limit can be saved up. */
function mostOf(window: WindowDefinition | undefined, limit: Limit | undefined): Limit | undefined {
  const burst = window?.burst
  if (burst === undefined || typeof limit !== 'number' || limit === 0) return limit
  if (typeof burst === 'number') return burst < limit ? burst : limit
  const share = Number((BigInt(limit) * BigInt(Math.round(burst.share * 100))) / 100n)
  return Math.max(share, 1)
}

export function inTokens(limit: Limit | undefined): number {
  return limit === undefined || limit === 'unlimited' ? Number.POSITIVE_INFINITY : limit
}

export function operationOf({ operations }: Policy, operation: string): OperationDefinition {
  const definition = operations[operation]
  if (definition === undefined) throw new RangeError(`the policy has no operation "${operation}"`)
  return definition
}

export function keyOf({ name, shared }: LayerDefinition, subject: Subject): string {
  if (shared) return 'everybody'
  return typeof subject === 'string' ? subject : (subject[name] ?? '')
}

function kindOf(window: WindowDefinition | undefined): WindowStatus['kind'] {
  if (window === undefined) return 'concurrency'
  if (window.burst !== undefined) return 'bucket'
  return window.every === undefined ? 'rolling' : 'calendar'
}

/** JSON, so that different rows never have the same name. */
function rowOf(layer: LayerDefinition, subject: Subject, category: string): string {
  return JSON.stringify([layer.name, keyOf(layer, subject), category])
}

/** Identifies a window within its row: everything that determines when it starts and ends. */
function identityOf(window: WindowDefinition): string {
  // The limit and the burst may change without a new counter.
  if (window.burst !== undefined) return JSON.stringify(['bucket', window.label, window.lengthMs])
  if (window.every === undefined) return JSON.stringify(['rolling', window.label, window.lengthMs])
  const { label, every, timeZone, weekStartsOn = 1, anchor = {} } = window
  return JSON.stringify(['calendar', label, every, timeZone, every === 'week' ? weekStartsOn : null, anchor])
}

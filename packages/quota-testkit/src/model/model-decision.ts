import type { Decision, Limit, RefusedDecision, UncountedWindow, Violation, WindowStatus } from '@scoregw/quota'
import { inTokens, type ModelCell, type ModelCells } from './model-cells.ts'
import type { ModelCounters } from './model-counters.ts'
import type { ModelRecord } from './model-records.ts'

/** A decision of the model: plain data. */
export type ModelDecision = ReturnType<Decision['toJSON']>

/** Nobody knows when a slot will be free: refusals name one second from now. */
const SLOT_RETRY_MS = 1_000

/** What a request needs. */
export interface Needed {
  readonly cost: number
  readonly slot: boolean
}

/** What can be said of a limit beside its counts. */
interface Facts {
  readonly lengthMs: number | null
  readonly startedAt: number | null
  readonly used: number
  /** When it counts from zero again; `null`: it is not open, or no time ends it. */
  readonly resetAt: number | null
}

/** Says what callers see of counters. */
export class ModelSight {
  readonly #cells: ModelCells
  readonly #counters: ModelCounters

  constructor(cells: ModelCells, counters: ModelCounters) {
    this.#cells = cells
    this.#counters = counters
  }

  /**
   * The limits that apply, in the policy's order.
   *
   * @param isCounted whether the counters are read; without them each window is one that is not open
   */
  show(cells: readonly ModelCell[], isCounted = true): WindowStatus[] {
    return cells.flatMap((cell) => {
      const { layer, category, label, kind, limit, most, enforced } = cell
      if (limit === undefined || most === undefined) return []
      const { lengthMs, startedAt, used, resetAt } = this.#facts(cell, isCounted)
      const remaining: Limit = most === 'unlimited' ? most : Math.max(0, most - used)
      const { name, scope } = layer
      return [
        {
          layer: name,
          scope,
          category,
          window: label,
          kind,
          lengthMs,
          limit,
          ...(kind === 'bucket' ? { burst: most } : {}),
          used,
          remaining,
          startedAt,
          resetAt,
          enforced,
        },
      ]
    })
  }

  /** The limits that refuse a request, those that are enforced or those that are not. */
  violations(cells: readonly ModelCell[], { cost, slot }: Needed, enforced: boolean): Violation[] {
    return cells.flatMap((cell) => {
      const requested = cell.kind === 'concurrency' ? Number(slot) : cost
      const limit = inTokens(cell.limit)
      const most = inTokens(cell.most)
      const { lengthMs, used, resetAt } = this.#facts(cell)
      if (cell.enforced !== enforced || requested === 0 || used + requested <= most) return []
      const now = this.#counters.clock.now()
      const { layer, label, kind } = cell
      return [
        {
          layer: layer.name,
          scope: layer.scope,
          category: cell.category,
          window: label,
          kind,
          lengthMs,
          limit,
          ...(kind === 'bucket' ? { burst: most } : {}),
          used,
          requested,
          resetAt:
            this.#enoughAt(cell, requested) ??
            resetAt ??
            now + (kind === 'concurrency' ? SLOT_RETRY_MS : (lengthMs ?? 0)),
          retryable: requested <= most,
        },
      ]
    })
  }

  /** When a bucket has as much as a request needs; of one that is not open, as if it opened now. */
  #enoughAt({ name, span, most }: ModelCell, requested: number): number | undefined {
    if (span === undefined || !('perMs' in span)) return undefined
    const { windows, clock } = this.#counters
    const open = windows.open(name, span)
    const isEmpty = open === undefined || open.used === 0
    const from = isEmpty ? { startedAt: clock.now(), used: 0, charged: 0 } : open
    return windows.enoughAt(from, span, inTokens(most) - requested)
  }

  /** The same of what a shadowed bucket would have refused, once that was charged. */
  chargedUntil(cells: readonly ModelCell[], { layer, window }: Violation): number | undefined {
    const cell = cells.find((each) => each.layer.name === layer && each.label === window)
    return cell && this.#enoughAt(cell, 0)
  }

  /** As seen where no counter was read. */
  showUncounted(cells: readonly ModelCell[]): UncountedWindow[] {
    const unknown = { used: null, remaining: null, startedAt: null, resetAt: null }
    return this.show(cells, false).map((status) => ({ ...status, ...unknown }))
  }

  #facts(cell: ModelCell, isCounted = true): Facts {
    const { name, window, span } = cell
    if (window === undefined || span === undefined)
      return { lengthMs: null, startedAt: null, used: this.#counters.slotsTaken(name), resetAt: null }
    const open = isCounted ? this.#counters.windows.open(name, span) : undefined
    const used = open?.used ?? 0
    if (open !== undefined && 'perMs' in span) {
      const isFull = used === 0
      const resetAt = isFull ? null : this.#counters.windows.enoughAt(open, span, 0)
      return { lengthMs: span.perMs, startedAt: isFull ? null : open.startedAt, used, resetAt }
    }
    const startedAt = open?.startedAt ?? null
    if (window.every === undefined) {
      const { lengthMs } = window
      return { lengthMs, startedAt, used, resetAt: startedAt === null ? null : startedAt + lengthMs }
    }
    // Where the clock stepped back over a boundary, it is the later period that the window is in.
    const now = this.#counters.clock.now()
    const [start, end] = this.#cells.period(window, Math.max(now, startedAt ?? now), cell)
    return { lengthMs: end - start, startedAt, used, resetAt: end }
  }
}

/** What shadowed limits say of a request that was admitted: their windows end when those end that it was charged to. */
export function endingAs<
  Decided extends { readonly windows: readonly WindowStatus[]; readonly shadowed: readonly Violation[] },
>(decided: Decided, chargedUntil: (violation: Violation) => number | undefined): Decided {
  const shadowed = decided.shadowed.map((violation) => {
    const { layer, window, kind } = violation
    const status = decided.windows.find((each) => each.layer === layer && each.window === window)
    if (kind === 'concurrency') return violation
    return { ...violation, resetAt: chargedUntil(violation) ?? status?.resetAt ?? violation.resetAt }
  })
  return { ...decided, shadowed }
}

/** What open holds of a category have in the very windows that are shown, in the first layer of the subject's own. */
export function withHeld(
  shown: readonly WindowStatus[],
  cells: readonly ModelCell[],
  records: readonly ModelRecord[],
  own: string | undefined,
): readonly WindowStatus[] {
  return shown.map((status) => {
    const name = cells.find(({ layer, label }) => layer.name === status.layer && label === status.window)?.name ?? ''
    const held = records.map(({ charged, hold }): number => {
      if (status.kind === 'concurrency') return hold?.slots.includes(name) ? 1 : 0
      return charged[name]?.startedAt === status.startedAt ? (charged[name]?.amount ?? 0) : 0
    })
    const sum = held.reduce((total, each) => total + each, 0)
    return status.layer === own && sum > 0 && status.used > 0 ? { ...status, held: Math.min(sum, status.used) } : status
  })
}

/** What a refusal says beside its violations. */
export function refusalOf(
  violations: readonly Violation[],
  layers: readonly string[],
  now: number,
): Pick<RefusedDecision, 'violations' | 'binding' | 'retryable' | 'resetAt' | 'retryAfterMs' | 'retryAfterSeconds'> {
  const hopeless = violations.filter(({ retryable }) => !retryable)
  const foremost = hopeless.length > 0 ? hopeless : violations
  const windows = foremost.filter(({ kind }) => kind !== 'concurrency')
  const candidates = windows.length > 0 ? windows : foremost
  const resetAt = Math.max(...candidates.map((each) => each.resetAt))
  const latest = candidates.filter((each) => each.resetAt === resetAt)
  const first = Math.min(...latest.map((each) => layers.indexOf(each.layer)))
  const ofFirstLayer = latest.filter((each) => layers.indexOf(each.layer) === first)
  const longest = Math.max(...ofFirstLayer.map((each) => each.lengthMs ?? 0))
  const binding = ofFirstLayer.find((each) => (each.lengthMs ?? 0) === longest)
  if (binding === undefined) throw new RangeError('a refusal without a violation')
  const waitMs = resetAt - now
  return {
    violations,
    binding,
    retryable: binding.retryable,
    resetAt,
    retryAfterMs: Math.max(1, waitMs),
    retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1000)),
  }
}

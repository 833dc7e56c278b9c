import type { Decision, Limit, RefusedDecision, UncountedWindow, Violation, WindowStatus } from '@scoregw/quota'
import { inTokens, type ModelCell, type ModelCells } from './model-cells.ts'
import type { ModelCounters } from './model-counters.ts'
import type { ModelRecord } from './model-records.ts'

/** A decision of the model, as plain data. */
export type ModelDecision = ReturnType<Decision['toJSON']>

/** A refusal for slots names one second from now, because no one knows when a slot is freed. */
const SLOT_RETRY_MS = 1_000

/** The needs of a request. */
export interface Needed {
  readonly cost: number
  readonly slot: boolean
}

/** The properties of a limit, apart from its counts. */
interface Facts {
  readonly lengthMs: number | null
  readonly startedAt: number | null
  readonly used: number
  /** When it counts from zero again; `null`: it isn't open, or it has no end. */
  readonly resetAt: number | null
}

/** Reports counters as callers see them. */
export class ModelSight {
  readonly #cells: ModelCells
  readonly #counters: ModelCounters

  constructor(cells: ModelCells, counters: ModelCounters) {
    this.#cells = cells
    this.#counters = counters
  }

  /**
   * Returns the limits that apply, in the policy's order.
   *
   * @param isCounted whether counters are read; otherwise each window counts as not open
   */
  show(cells: readonly ModelCell[], isCounted = true): WindowStatus[] {
    return cells.flatMap((cell) => {
      const { kind, limit, most, enforced } = cell
      if (limit === undefined || most === undefined) return []
      const { startedAt, used, resetAt, ...facts } = this.#facts(cell, isCounted)
      const remaining: Limit = most === 'unlimited' ? most : Math.max(0, most - used)
      const burst = kind === 'bucket' ? { burst: most } : {}
      return [{ ...namesOf(cell), ...facts, limit, ...burst, used, remaining, startedAt, resetAt, enforced }]
    })
  }

  /** The limits that refuse a request: either the enforced ones, or the shadowed ones. */
  violations(cells: readonly ModelCell[], { cost, slot }: Needed, enforced: boolean): Violation[] {
    return cells.flatMap((cell) => {
      const requested = cell.kind === 'concurrency' ? Number(slot) : cost
      const limit = inTokens(cell.limit)
      const most = inTokens(cell.most)
      const { lengthMs, used, resetAt } = this.#facts(cell)
      if (cell.enforced !== enforced || requested === 0 || used + requested <= most) return []
      const waitMs = cell.kind === 'concurrency' ? SLOT_RETRY_MS : (lengthMs ?? 0)
      const endsAt = this.#enoughAt(cell, requested) ?? resetAt ?? this.#counters.clock.now() + waitMs
      const burst = cell.kind === 'bucket' ? { burst: most } : {}
      const retryable = requested <= most
      return [{ ...namesOf(cell), lengthMs, limit, ...burst, used, requested, resetAt: endsAt, retryable }]
    })
  }

  /**
   * When each limit has room for a request without other traffic, and when all have: under limits that change at some
   * instants, because overrides or plans end.
   *
   * @param cellsAt the limits in force at an instant
   * @returns for a limit, or for all of them without one: the first such instant; `undefined`: waiting doesn't help
   */
  roomAt(ends: readonly number[], cellsAt: (at: number) => readonly ModelCell[], cost: number) {
    const now = this.#counters.clock.now()
    const isFor = (of?: Violation) => (cell: ModelCell) =>
      cell.kind !== 'concurrency' &&
      cell.enforced &&
      (of === undefined || (cell.layer.name === of.layer && cell.label === of.window))
    const hasRoom = (cell: ModelCell, at: number): boolean => {
      const most = inTokens(cell.most)
      if (most === Number.POSITIVE_INFINITY) return true
      if (cell.kind === 'bucket') return cost <= most && (this.#enoughAt(cell, cost) ?? now) <= at
      const { used, resetAt } = this.#facts(cell)
      return (resetAt !== null && at >= resetAt ? 0 : used) + cost <= most
    }
    const phases = [now, ...ends]
    const candidates = phases
      .flatMap((from) => [
        from,
        ...cellsAt(from).map((cell) => this.#enoughAt(cell, cost) ?? this.#facts(cell).resetAt ?? from),
      ])
      .filter((at) => at > now)
      .sort((a, b) => a - b)
    return (of?: Violation): number | undefined =>
      candidates.find((at) => {
        const from = Math.max(...phases.filter((start) => start <= at))
        return cellsAt(from)
          .filter(isFor(of))
          .every((cell) => hasRoom(cell, at))
      })
  }

  /** When a bucket has enough tokens for a request. One that isn't open counts as opened now. */
  #enoughAt({ name, span, most }: ModelCell, requested: number): number | undefined {
    if (span === undefined || !('perMs' in span)) return undefined
    const { windows, clock } = this.#counters
    const open = windows.open(name, span)
    const isEmpty = open === undefined || open.used === 0
    const from = isEmpty ? { startedAt: clock.now(), used: 0, charged: 0 } : open
    return windows.enoughAt(from, span, inTokens(most) - requested)
  }

  /** The same for a shadowed bucket, after it was charged for the request. */
  chargedUntil(cells: readonly ModelCell[], { layer, window }: Violation): number | undefined {
    const cell = cells.find((each) => each.layer.name === layer && each.label === window)
    return cell && this.#enoughAt(cell, 0)
  }

  /** The limits without counters. */
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
    // If the clock stepped back over a boundary, the window is in the later period.
    const now = this.#counters.clock.now()
    const [start, end] = this.#cells.period(window, Math.max(now, startedAt ?? now), cell)
    return { lengthMs: end - start, startedAt, used, resetAt: end }
  }
}

function namesOf({ layer, category, label, kind }: ModelCell) {
  return { layer: layer.name, scope: layer.scope, category, window: label, kind }
}

/** Violations of shadowed limits by an admitted request. They end with the windows that were charged. */
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

/** Adds what open holds have in the windows shown, in the first layer that isn't shared. */
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

/**
 * The members of a refusal.
 *
 * @param roomAt when a limit has room, or all have: if overrides or plans of the subject end
 */
export function refusalOf(
  violations: readonly Violation[],
  layers: readonly string[],
  now: number,
  roomAt?: (of?: Violation) => number | undefined,
): Pick<RefusedDecision, 'violations' | 'binding' | 'retryable' | 'resetAt' | 'retryAfterMs' | 'retryAfterSeconds'> {
  if (roomAt !== undefined) {
    const waiting = violations.map((each) => (each.kind === 'concurrency' ? each : withRoom(each, roomAt(each))))
    const refusal = refusalOf(waiting, layers, now)
    if (refusal.binding.kind === 'concurrency') return refusal
    const binding = withRoom(refusal.binding, roomAt())
    return { violations: waiting, ...waitOf(binding, now) }
  }
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
  return { violations, ...waitOf(binding, now) }
}

function withRoom(violation: Violation, at: number | undefined): Violation {
  return { ...violation, retryable: at !== undefined, resetAt: at ?? violation.resetAt }
}

function waitOf(binding: Violation, now: number) {
  const { retryable, resetAt } = binding
  const waitMs = resetAt - now
  return {
    binding,
    retryable,
    resetAt,
    retryAfterMs: Math.max(1, waitMs),
    retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1000)),
  }
}

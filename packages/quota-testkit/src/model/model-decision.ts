import type {
  Decision,
  LimitStatus,
  Policy,
  QuotaStatus,
  Refusal,
  RefusedDecision,
  UncountedLimit,
} from '@scoregw/quota'
import { asNumber, type CellsOf, type ModelCell, type ModelCells } from './model-cells.ts'
import type { ModelCosts, ModelCounters, ModelRecord } from './model-counters.ts'
import { counts } from './model-names.ts'
import type { OpenWindow } from './model-windows.ts'

/** A decision of the model, as plain data. */
export type ModelDecision = ReturnType<Decision['toJSON']>

type HeldLimitStatus = NonNullable<QuotaStatus['limits'][string]>

/** Refusals for slots and by blocks name one second from now, because no one knows when they end. */
const UNKNOWN_MS = 1_000

/** The needs of a request. */
export interface Needed {
  readonly costs: ModelCosts
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
   * Returns limits as callers see them.
   *
   * @param isCounted whether counters are read; otherwise each window counts as not open
   */
  show(cells: readonly ModelCell[], isCounted = true): LimitStatus[] {
    return cells.map((cell) => {
      const { kind, limit, most, from, enforced } = cell
      const { startedAt, used, resetAt, lengthMs } = this.#facts(cell, isCounted)
      const remaining = most === 'unlimited' ? most : Math.max(0, most - used)
      const burst = kind === 'bucket' ? { burst: most } : {}
      return { ...namesOf(cell), lengthMs, limit, ...burst, used, remaining, startedAt, resetAt, from, enforced }
    })
  }

  /** The limits without counters. */
  showUncounted(cells: readonly ModelCell[]): UncountedLimit[] {
    const unknown = { used: null, remaining: null, startedAt: null, resetAt: null }
    return this.show(cells, false).map((status) => ({ ...status, ...unknown }))
  }

  /** The limits that refuse a request: either the enforced ones, or the shadowed ones. */
  refusals(cells: readonly ModelCell[], needed: Needed, enforced: boolean): Refusal[] {
    return cells.flatMap((cell) => {
      const requested = neededOf(cell, needed)
      const most = asNumber(cell.most)
      const { lengthMs, used, resetAt } = this.#facts(cell)
      if (cell.enforced !== enforced || requested === 0 || used + requested <= most) return []
      const waitMs = cell.kind === 'concurrency' ? UNKNOWN_MS : (lengthMs ?? 0)
      const endsAt = this.#enoughAt(cell, requested) ?? resetAt ?? this.#counters.clock.now() + waitMs
      const limits = { limit: asNumber(cell.limit), ...(cell.kind === 'bucket' && { burst: most }) }
      return [{ ...namesOf(cell), lengthMs, ...limits, used, requested, resetAt: endsAt, retryable: requested <= most }]
    })
  }

  /** The refusals of a blocked subject: by the limits of the layers that block it, those of the operation first. */
  blocking(of: CellsOf, needed: Needed): Refusal[] {
    const { clock } = this.#counters
    const blockedAt = (at: number) => this.#cells.blockedBy(of.subject, at).map(({ name }) => name)
    const blocked = blockedAt(clock.now())
    if (blocked.length === 0) return []
    const all = this.#cells.all(of)
    const ofLayers = all.filter(({ layer }) => blocked.includes(layer.name))
    const counting = ofLayers.filter(({ rule }) => counts(rule, of.operation))
    const cells = [counting, ofLayers, all].find(({ length }) => length > 0) ?? []
    const ends = this.#cells.endsOf(of.subject).sort((a, b) => a - b)
    const endsAt = ends.find((end) => blockedAt(end).length === 0)
    const end = { resetAt: endsAt ?? clock.now() + UNKNOWN_MS, retryable: endsAt !== undefined }
    return cells.map((cell) => {
      const { lengthMs } = this.#facts(cell, false)
      return { ...namesOf(cell), lengthMs, limit: 0, used: 0, requested: neededOf(cell, needed), ...end }
    })
  }

  /**
   * When each limit has room for a request without other traffic, and when all have: under limits that change at some
   * instants, because parts of the subject's settings end.
   *
   * @param cellsAt the limits in force at an instant
   * @returns for a limit, or for all of them without one: the first such instant; `undefined`: waiting doesn't help
   */
  roomAt(ends: readonly number[], cellsAt: (at: number) => readonly ModelCell[], needed: Needed) {
    const now = this.#counters.clock.now()
    const isFor = (of?: Refusal) => (cell: ModelCell) =>
      cell.kind !== 'concurrency' && cell.enforced && (of === undefined || cell.rule.name === of.name)
    const hasRoom = (cell: ModelCell, at: number): boolean => {
      const cost = neededOf(cell, needed)
      const most = asNumber(cell.most)
      if (cost === 0 || most === Number.POSITIVE_INFINITY) return true
      if (cell.kind === 'bucket') return cost <= most && (this.#enoughAt(cell, cost) ?? now) <= at
      const { used, resetAt } = this.#facts(cell)
      return (resetAt !== null && at >= resetAt ? 0 : used) + cost <= most
    }
    const phases = [now, ...ends]
    const candidates = phases
      .flatMap((from) => [
        from,
        ...cellsAt(from).map(
          (cell) => this.#enoughAt(cell, neededOf(cell, needed)) ?? this.#facts(cell).resetAt ?? from,
        ),
      ])
      .filter((at) => at > now)
      .sort((a, b) => a - b)
    return (of?: Refusal): number | undefined =>
      candidates.find((at) => {
        const from = Math.max(...phases.filter((start) => start <= at))
        return cellsAt(from)
          .filter(isFor(of))
          .every((cell) => hasRoom(cell, at))
      })
  }

  /** When a bucket has enough for a request. One that isn't open counts as opened now. */
  #enoughAt({ name, span, most }: ModelCell, requested: number): number | undefined {
    if (span === undefined || !('perMs' in span)) return undefined
    const { windows, clock } = this.#counters
    const open = windows.open(name, span)
    const isEmpty = open === undefined || open.used === 0
    const from = isEmpty ? { startedAt: clock.now(), used: 0, charged: 0 } : open
    return windows.enoughAt(from, span, asNumber(most) - requested)
  }

  /** The same for a shadowed bucket, after it was charged for the request. */
  chargedUntil(cells: readonly ModelCell[], { name }: Refusal): number | undefined {
    const cell = cells.find(({ rule }) => rule.name === name)
    return cell && this.#enoughAt(cell, 0)
  }

  /** A full bucket counts as never opened. */
  #bucketFacts(open: OpenWindow, span: { readonly perMs: number; readonly rate: number }): Facts {
    const isFull = open.used === 0
    const resetAt = isFull ? null : this.#counters.windows.enoughAt(open, span, 0)
    return { lengthMs: span.perMs, startedAt: isFull ? null : open.startedAt, used: open.used, resetAt }
  }

  #facts(cell: ModelCell, isCounted = true): Facts {
    const { name, rule, span } = cell
    if (rule.window === undefined || span === undefined) {
      const used = isCounted ? this.#counters.slotsTaken(name) : 0
      return { lengthMs: null, startedAt: null, used, resetAt: null }
    }
    const open = isCounted ? this.#counters.windows.open(name, span) : undefined
    if (open !== undefined && 'perMs' in span) return this.#bucketFacts(open, span)
    const used = open?.used ?? 0
    const startedAt = open?.startedAt ?? null
    if (rule.window.every === undefined) {
      const { lengthMs } = rule.window
      return { lengthMs, startedAt, used, resetAt: startedAt === null ? null : startedAt + lengthMs }
    }
    // If the clock stepped back over a boundary, the window is in the later period.
    const now = this.#counters.clock.now()
    const [start, end] = this.#cells.period(rule.window, Math.max(now, startedAt ?? now), cell)
    return { lengthMs: end - start, startedAt, used, resetAt: end }
  }
}

/** How much of what a limit counts a request needs. */
function neededOf({ kind, rule }: ModelCell, { costs, slot }: Needed): number {
  return kind === 'concurrency' ? Number(slot) : (costs[rule.unit] ?? 0)
}

function namesOf({ rule: { name, title, unit }, layer, kind }: ModelCell) {
  const whose = layer.shared ? { shared: layer.name } : { by: layer.name }
  return { name, ...whose, title, kind, unit }
}

export function byName<T extends { readonly name: string }>(limits: readonly T[]): Record<string, T> {
  return Object.fromEntries(limits.map((limit) => [limit.name, limit]))
}

/** Shadowed refusals of an admitted request. They end with the windows that were charged. */
export function endingAs(
  shadowed: readonly Refusal[],
  limits: readonly LimitStatus[],
  chargedUntil: (refusal: Refusal) => number | undefined,
): Refusal[] {
  return shadowed.map((refusal) => {
    const status = limits.find(({ name }) => name === refusal.name)
    if (refusal.kind === 'concurrency') return refusal
    return { ...refusal, resetAt: chargedUntil(refusal) ?? status?.resetAt ?? refusal.resetAt }
  })
}

/** Adds what open holds have in the limits shown, in the layer of their owner. */
export function withHeld(
  statuses: readonly LimitStatus[],
  cells: readonly ModelCell[],
  records: readonly ModelRecord[],
  owner: string,
): readonly HeldLimitStatus[] {
  return statuses.map((status, index) => {
    const name = cells[index]?.name ?? ''
    const held = records.map(({ charged, hold }): number => {
      if (status.kind === 'concurrency') return hold?.slots.includes(name) ? 1 : 0
      return charged[name]?.startedAt === status.startedAt ? (charged[name]?.amount ?? 0) : 0
    })
    const sum = held.reduce((total, each) => total + each, 0)
    return status.by === owner && sum > 0 && status.used > 0 ? { ...status, held: Math.min(sum, status.used) } : status
  })
}

type RefusalMembers = Pick<
  RefusedDecision,
  'refusals' | 'refusedBy' | 'retryable' | 'resetAt' | 'retryAfterMs' | 'retryAfterSeconds'
>

/**
 * The members of a refusal.
 *
 * @param roomAt when a limit has room, or all have: if parts of the subject's settings end
 */
export function refusalOf(
  refusals: readonly Refusal[],
  policy: Policy,
  now: number,
  roomAt?: (of?: Refusal) => number | undefined,
): RefusalMembers {
  if (roomAt !== undefined) {
    const waiting = refusals.map((each) => (each.kind === 'concurrency' ? each : withRoom(each, roomAt(each))))
    const refusal = refusalOf(waiting, policy, now)
    if (refusal.refusedBy.kind === 'concurrency') return refusal
    return refusedBy(waiting, withRoom(refusal.refusedBy, roomAt()), now)
  }
  const layerOf = ({ by, shared }: Refusal): number => policy.layers.findIndex(({ name }) => name === (by ?? shared))
  const hopeless = refusals.filter(({ retryable }) => !retryable)
  const foremost = hopeless.length > 0 ? hopeless : refusals
  const windows = foremost.filter(({ kind }) => kind !== 'concurrency')
  const candidates = windows.length > 0 ? windows : foremost
  const resetAt = Math.max(...candidates.map((each) => each.resetAt))
  const latest = candidates.filter((each) => each.resetAt === resetAt)
  const first = Math.min(...latest.map(layerOf))
  const ofFirstLayer = latest.filter((each) => layerOf(each) === first)
  const longest = Math.max(...ofFirstLayer.map((each) => each.lengthMs ?? 0))
  const reported = ofFirstLayer.find((each) => (each.lengthMs ?? 0) === longest)
  if (reported === undefined) throw new RangeError('a refusal by no limit')
  return refusedBy(refusals, reported, now)
}

function withRoom(refusal: Refusal, at: number | undefined): Refusal {
  return { ...refusal, retryable: at !== undefined, resetAt: at ?? refusal.resetAt }
}

/** The members of a refusal that reports this limit. Without `retryable`, there is no time to wait. */
export function refusedBy(refusals: readonly Refusal[], reported: Refusal, now: number): RefusalMembers {
  const { retryable, resetAt } = reported
  const waitMs = Math.max(1, resetAt - now)
  return {
    refusals,
    refusedBy: reported,
    retryable,
    resetAt,
    retryAfterMs: retryable ? waitMs : null,
    retryAfterSeconds: retryable ? Math.ceil(waitMs / 1000) : null,
  }
}

import type {
  AsyncCounters,
  AsyncHolds,
  ExtendRequest,
  GrowRequest,
  HoldReply,
  ListHoldsReply,
  ListHoldsRequest,
  ReadReply,
  ReadRequest,
  ResetRequest,
  SettleHoldReply,
  SettleHoldRequest,
  SettleRequest,
  StoreSchema,
  SweepReply,
  SyncCounters,
  SyncHolds,
  TakeReply,
  TakeRequest,
} from '@scoregw/quota/store'
import type { Work } from './operation.ts'
import { type Footprint, SchemaRows } from './requested.ts'
import type { Step } from './step.ts'
import type { Layouts } from './stored.ts'

/**
 * Counters of one policy in a database. Calls reject with `store_error` if they were not answered in time, or their
 * outcome is unknown. Unless they only read or list, they may then have been carried out. They reject with
 * `damaged_row` if a row or record that they need cannot be read. A reset repairs rows.
 */
export interface SqlCounters extends AsyncCounters {
  readonly holds: AsyncHolds
}

/** Carries out work in a transaction. */
export type Perform = <T>(work: Work<T>) => Promise<T>
/** The same, answering synchronously. */
export type PerformNow = <T>(work: Work<T>) => T

/** How the counters of a schema carry out their work. */
interface CounterDeps<P, S> {
  readonly layouts: Layouts
  readonly perform: P
  readonly sweep: () => S
}

/** The counters of a schema. */
export function countersOf(schema: StoreSchema, deps: CounterDeps<Perform, Promise<SweepReply>>): SqlCounters
export function countersOf(schema: StoreSchema, deps: CounterDeps<PerformNow, SweepReply>): SyncCounters
export function countersOf(
  schema: StoreSchema,
  { layouts, perform, sweep }: CounterDeps<<T>(work: Work<T>) => unknown, unknown>,
): unknown {
  const works = new Works(schema, layouts, (work) => void Promise.resolve(perform(work)).catch(() => undefined))
  /** The calls of a kind of work. */
  const calls =
    <R, T>(work: (request: R) => Work<T>) =>
    (request: R) =>
      perform(work(request))
  const counters: Record<keyof SyncCounters, unknown> = {
    take: calls((request: TakeRequest) => works.take(request)),
    read: calls((request: ReadRequest) => works.read(request)),
    settle: calls((request: SettleRequest) => works.settle(request)),
    reset: calls((request: ResetRequest) => works.reset(request)),
    holds: {
      extend: calls((request: ExtendRequest) => works.extend(request)),
      grow: calls((request: GrowRequest) => works.grow(request)),
      settle: calls((request: SettleHoldRequest) => works.settleHold(request)),
      list: calls((request: ListHoldsRequest) => works.list(request)),
      sweep,
    },
  }
  return counters
}

// The work of calls ---------------------------------------------------------------------------------------------------

/** Runs work that undoes an admission made after its call had failed. */
type Undo = (work: Work<unknown>) => void

/** One schema's calls, as work for a step. */
class Works {
  readonly #schema: StoreSchema
  readonly #rows: SchemaRows
  readonly #undo: Undo

  constructor(schema: StoreSchema, layouts: Layouts, undo: Undo) {
    this.#schema = schema
    this.#rows = new SchemaRows(schema, layouts)
    this.#undo = undo
  }

  take(request: TakeRequest): Work<TakeReply> {
    const { subject, id, hold } = request
    const rows = this.#rows.used(request)
    const ids = id && this.#rows.ids(request)
    const countedOwners = hold && [this.#rows.owner(subject)]
    const footprint: Footprint = { rows, ids, countedOwners }
    return {
      footprint,
      takesFrom: this.#rows.takesFrom(request.set),
      isRepeatable: id !== undefined,
      charge: id === undefined ? this.#rows.chargeOf(request, rows) : undefined,
      decide: (step) => {
        step.check(footprint)
        // A known id gets its earlier answer, regardless of the settings.
        const isUsed = ids?.some((place) => step.hasRecord(place)) === true
        return !isUsed && isStale(step, request) ? staleReply(step) : step.counters(this.#schema).take(request)
      },
      undo: (reply) => this.#undoTake(request, reply),
    }
  }

  read(request: ReadRequest): Work<ReadReply> {
    const footprint = { rows: this.#rows.used(request) }
    return { ...checked(footprint, (step) => step.counters(this.#schema).read(request)), isRead: true }
  }

  settle(request: SettleRequest): Work<void> {
    const footprint = { rows: this.#rows.used(request), ids: this.#rows.ids(request) }
    return checked(footprint, (step) => step.counters(this.#schema).settle(request))
  }

  reset(request: ResetRequest): Work<void> {
    const shownOwners = [this.#rows.owner(request.subject)]
    const footprint = { rows: this.#rows.used(request), shownOwners, repairs: true }
    return {
      footprint,
      decide: (step) => {
        step.repairRows(footprint)
        step.repairRecords(footprint)
        step.counters(this.#schema).reset(request)
      },
    }
  }

  extend(request: ExtendRequest): Work<HoldReply> {
    return checked({ ids: this.#rows.ids(request) }, (step) => this.#holds(step).extend(request))
  }

  grow(request: GrowRequest): Work<HoldReply> {
    return checked(this.#footprintOfHold(request), (step) => {
      const holds = this.#holds(step)
      if (!isStale(step, request)) return holds.grow(request)
      // Only open holds depend on the settings. Extending by 0 changes nothing.
      const { outcome, now, states } = holds.extend({ ...request, ttlMs: 0 })
      return outcome === 'held' ? staleReply(step) : { outcome, now, states }
    })
  }

  settleHold(request: SettleHoldRequest): Work<SettleHoldReply> {
    const footprint = this.#footprintOfHold(request)
    return {
      footprint,
      decide: (step) => {
        if (request.as === 'cancelled') step.repairRecords(footprint)
        step.check(footprint)
        return this.#holds(step).settle(request)
      },
    }
  }

  list(request: ListHoldsRequest): Work<ListHoldsReply> {
    const footprint = { shownOwners: [this.#rows.owner(request.subject)] }
    return { ...checked(footprint, (step) => this.#holds(step).list(request)), isRead: true }
  }

  #undoTake(request: TakeRequest, { outcome, states }: TakeReply): void {
    if (outcome !== 'admitted') return
    const { subject, set, quotas, id, hold, costs } = request
    const refunds = costs.slice(0, -1)
    if (hold !== undefined && id !== undefined) {
      const maxOverrun = refunds.map(() => 0)
      const end = { subject, set, id, quotas, as: 'cancelled', overrun: 'refuse', maxOverrun } as const
      this.#undo(this.settleHold(end))
    } else this.#undo(this.settle({ subject, set, layers: quotas.layers, states, refunds, as: 'cancelled', id }))
  }

  #holds(step: Step): SyncHolds {
    const { holds } = step.counters(this.#schema)
    if (holds === undefined) throw new TypeError('counters of a scratch have holds')
    return holds
  }

  #footprintOfHold(request: GrowRequest | SettleHoldRequest): Footprint {
    return { rows: this.#rows.used(request), ids: this.#rows.ids(request) }
  }
}

/** Work that fails if a row or record that it needs cannot be read. */
function checked<T>(footprint: Footprint, decide: (step: Step) => T): Work<T> {
  return {
    footprint,
    decide: (step) => {
      step.check(footprint)
      return decide(step)
    },
  }
}

function isStale({ revision }: Step, { settingsRevision }: Pick<TakeRequest, 'settingsRevision'>): boolean {
  return settingsRevision !== undefined && settingsRevision !== revision
}

function staleReply({ now, revision }: Step): TakeReply & HoldReply & { readonly outcome: 'stale' } {
  return { outcome: 'stale', now, states: [], settingsRevision: revision }
}

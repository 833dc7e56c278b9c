import {
  type ExtendRequest,
  type GrowRequest,
  type HoldReply,
  idOwnerKey,
  type ListHoldsReply,
  type ListHoldsRequest,
  type ReadReply,
  type ReadRequest,
  type ResetRequest,
  type SettleHoldReply,
  type SettleHoldRequest,
  type SettleRequest,
  type StoreSchema,
  type Subject,
  type SyncHolds,
  type TakeReply,
  type TakeRequest,
} from '@scoregw/quota/store'
import type { Work } from './operation.ts'
import type { Footprint } from './requested.ts'
import type { Layouts } from './row-layout.ts'
import { SchemaRows } from './schema-rows.ts'
import type { Step } from './step.ts'

/** Runs work that undoes an admission made after its call had failed. */
export type Undo = (work: Work<unknown>) => void

/** One schema's calls, as work for a step. */
export class Works {
  readonly #schema: StoreSchema
  readonly #rows: SchemaRows
  readonly #undo: Undo

  constructor(schema: StoreSchema, layouts: Layouts, undo: Undo) {
    this.#schema = schema
    this.#rows = new SchemaRows(schema, layouts)
    this.#undo = undo
  }

  take(request: TakeRequest): Work<TakeReply> {
    const { subject, category, quotas, id, hold } = request
    const rows = this.#rows.of(subject, [category], quotas.layers)
    const ids = id && this.#rows.ids(request)
    const countedOwners = hold && [idOwnerKey(this.#schema, subject)]
    const footprint: Footprint = { rows, layout: this.#rows.layout, ids, countedOwners }
    return {
      footprint,
      takesFrom: this.#schema.categories[category],
      charge: id === undefined ? { rows: this.#rows, refs: rows, request } : undefined,
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
    const footprint = this.#footprint(request.subject, request.categories, request.layers)
    return { ...checked(footprint, (step) => step.counters(this.#schema).read(request)), isRead: true }
  }

  settle(request: SettleRequest): Work<void> {
    const footprint = this.#footprint(request.subject, [request.category], request.layers)
    return checked({ ...footprint, ids: this.#rows.ids(request) }, (step) =>
      step.counters(this.#schema).settle(request),
    )
  }

  reset(request: ResetRequest): Work<void> {
    const shownOwners = [idOwnerKey(this.#schema, request.subject)]
    const footprint = {
      ...this.#footprint(request.subject, request.categories, request.layers),
      shownOwners,
      repairs: true,
    }
    return {
      footprint,
      decide: (step) => {
        step.repairRows(footprint, this.#schema)
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
    const footprint = { shownOwners: [idOwnerKey(this.#schema, request.subject)] }
    return { ...checked(footprint, (step) => this.#holds(step).list(request)), isRead: true }
  }

  #undoTake(request: TakeRequest, { outcome, states }: TakeReply): void {
    if (outcome !== 'admitted') return
    const { subject, category, quotas, id, hold, costs } = request
    const refunds = costs.slice(0, -1)
    if (hold !== undefined && id !== undefined) {
      const maxOverrun = refunds.map(() => 0)
      const end = { subject, category, id, quotas, as: 'cancelled', overrun: 'refuse', maxOverrun } as const
      this.#undo(this.settleHold(end))
    } else this.#undo(this.settle({ subject, category, layers: quotas.layers, states, refunds, as: 'cancelled', id }))
  }

  #holds(step: Step): SyncHolds {
    const { holds } = step.counters(this.#schema)
    if (holds === undefined) throw new TypeError('counters of a scratch have holds')
    return holds
  }

  #footprint(subject: Subject, categories: readonly number[], layers: readonly number[]): Footprint {
    return { rows: this.#rows.of(subject, categories, layers), layout: this.#rows.layout }
  }

  #footprintOfHold(request: GrowRequest | SettleHoldRequest): Footprint {
    const { subject, category, quotas } = request
    return { ...this.#footprint(subject, [category], quotas.layers), ids: this.#rows.ids(request) }
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

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
import type { Footprint } from './asked.ts'
import type { Work } from './operation.ts'
import type { Layouts } from './row-layout.ts'
import { type Charge, SchemaRows } from './schema-rows.ts'
import type { Step } from './step.ts'

/** Undoes what was admitted for a caller who was told that there was no answer. */
export interface LateEnds {
  settle(request: SettleRequest): void
  cancel(request: SettleHoldRequest): void
}

/** The calls of one schema's counters as work for a step. */
export class Works {
  readonly #schema: StoreSchema
  readonly #rows: SchemaRows
  readonly #late: LateEnds

  constructor(schema: StoreSchema, layouts: Layouts, late: LateEnds) {
    this.#schema = schema
    this.#rows = new SchemaRows(schema, layouts)
    this.#late = late
  }

  take(request: TakeRequest): Work<TakeReply> {
    return new TakeWork(this.#rows, request, this.#late)
  }

  read(request: ReadRequest): Work<ReadReply> {
    const footprint = this.#footprint(request.subject, request.categories, request.layers)
    return this.#work(footprint, true, { isLook: true, decide: (step) => step.counters(this.#schema).read(request) })
  }

  settle(request: SettleRequest): Work<void> {
    const { subject, category, layers, id } = request
    const rows = this.#footprint(subject, [category], layers)
    return this.#work({ ...rows, ids: this.#rows.ids(request) }, id !== undefined, {
      decide: (step) => step.counters(this.#schema).settle(request),
    })
  }

  reset(request: ResetRequest): Work<void> {
    const footprint = this.#footprint(request.subject, request.categories, request.layers)
    return {
      ...this.#work(footprint, true, { decide: () => undefined }),
      decide: (step) => {
        step.mend(footprint, this.#schema)
        step.counters(this.#schema).reset(request)
      },
    }
  }

  extend(request: ExtendRequest): Work<HoldReply> {
    return this.#work({ ids: this.#rows.ids(request) }, true, { decide: (step) => this.#holds(step).extend(request) })
  }

  grow(request: GrowRequest): Work<HoldReply> {
    const { subject, category, quotas } = request
    const ids = this.#rows.ids(request)
    // A growth that is made again cannot be told from another one.
    return this.#work({ ...this.#footprint(subject, [category], quotas.layers), ids }, false, {
      decide: (step) => {
        const holds = this.#holds(step)
        if (!isStale(step, request)) return holds.grow(request)
        // What is no open hold is told as such whatever the settings: an extension by nothing changes nothing.
        const { outcome, now, states } = holds.extend({ ...request, ttlMs: 0 })
        return outcome === 'held' ? staleReply(step) : { outcome, now, states }
      },
    })
  }

  settleHold(request: SettleHoldRequest): Work<SettleHoldReply> {
    const { subject, category, quotas } = request
    const rows = this.#footprint(subject, [category], quotas.layers)
    return this.#work({ ...rows, ids: this.#rows.ids(request) }, true, {
      decide: (step) => this.#holds(step).settle(request),
    })
  }

  list(request: ListHoldsRequest): Work<ListHoldsReply> {
    const shownOwners = [idOwnerKey(this.#schema, request.subject)]
    return this.#work({ shownOwners }, true, { isLook: true, decide: (step) => this.#holds(step).list(request) })
  }

  #work<T>(
    footprint: Footprint,
    repeatable: boolean,
    { isLook = false, ...work }: Pick<Work<T>, 'decide' | 'undo'> & { readonly isLook?: boolean },
  ): Work<T> {
    return {
      ...work,
      footprint,
      repeatable,
      isLook,
      decide: (step) => {
        step.check(footprint)
        return work.decide(step)
      },
    }
  }

  #holds(step: Step): SyncHolds {
    const { holds } = step.counters(this.#schema)
    if (holds === undefined) throw new TypeError('counters of a workspace have holds')
    return holds
  }

  #footprint(subject: Subject, categories: readonly number[], layers: readonly number[]): Footprint {
    return { rows: this.#rows.of(subject, categories, layers), layout: this.#rows.layout }
  }
}

/** A decision: a class, since there are so many. */
class TakeWork implements Work<TakeReply> {
  readonly footprint: Footprint
  readonly isLook = false
  readonly charge: Charge | undefined
  readonly #schema: StoreSchema
  readonly #request: TakeRequest
  readonly #late: LateEnds

  constructor(rows: SchemaRows, request: TakeRequest, late: LateEnds) {
    const { subject, category, quotas, id, hold } = request
    const refs = rows.of(subject, [category], quotas.layers)
    this.footprint = {
      rows: refs,
      layout: rows.layout,
      ids: id && rows.ids(request),
      countedOwners: hold && [idOwnerKey(rows.schema, subject)],
    }
    if (id === undefined) this.charge = { rows, refs, request }
    this.#schema = rows.schema
    this.#request = request
    this.#late = late
  }

  get repeatable(): boolean {
    return this.#request.id !== undefined
  }

  decide(step: Step): TakeReply {
    step.check(this.footprint)
    // What an id was used for is the answer whatever the settings.
    const isUsed = this.footprint.ids?.some((place) => step.hasRecord(place)) === true
    if (!isUsed && isStale(step, this.#request)) return staleReply(step)
    return step.counters(this.#schema).take(this.#request)
  }

  isCharge({ outcome }: TakeReply): boolean {
    return outcome === 'admitted'
  }

  undo({ outcome, states }: TakeReply): void {
    if (outcome !== 'admitted') return
    const { subject, category, quotas, id, hold, costs } = this.#request
    const giveBack = costs.slice(0, -1)
    if (hold !== undefined && id !== undefined) {
      const maxOverrun = giveBack.map(() => 0)
      this.#late.cancel({ subject, category, id, quotas, as: 'cancelled', overrun: 'refuse', maxOverrun })
    } else {
      this.#late.settle({ subject, category, layers: quotas.layers, states, giveBack, as: 'cancelled', id })
    }
  }
}

function isStale(
  { revision }: Step,
  { settingsRevision }: { readonly settingsRevision?: string | undefined },
): boolean {
  return settingsRevision !== undefined && settingsRevision !== revision
}

/** The end of a hold that was not settled: what is past its end is settled before anything is decided. */
export function endWork(footprint: Footprint): Work<void> {
  return { footprint, repeatable: true, isLook: false, decide: () => undefined }
}

function staleReply({ now, revision }: Step): { readonly outcome: 'stale'; readonly now: number } & {
  readonly states: readonly number[]
  readonly settingsRevision: string
} {
  return { outcome: 'stale', now, states: [], settingsRevision: revision }
}

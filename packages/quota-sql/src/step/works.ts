import {
  type ExtendRequest,
  type GrowRequest,
  type HoldRef,
  type HoldReply,
  type IdPlace,
  idOwnerKey,
  type ListHoldsReply,
  type ListHoldsRequest,
  layerKey,
  type ReadReply,
  type ReadRequest,
  type ReservationId,
  type ResetRequest,
  type RowPlace,
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
import type { Step } from './step.ts'

/** Undoes what was admitted for a caller who was told that nobody answered. */
export interface LateEnds {
  settle(request: SettleRequest): void
  cancel(request: SettleHoldRequest): void
}

/** The calls of one schema's counters as work for a step. */
export class Works {
  readonly #schema: StoreSchema
  readonly #late: LateEnds

  constructor(schema: StoreSchema, late: LateEnds) {
    this.#schema = schema
    this.#late = late
  }

  take(request: TakeRequest): Work<TakeReply> {
    const { subject, category, quotas, id, hold } = request
    const footprint = {
      rows: this.#rowsOf(subject, [category], quotas.layers),
      ids: id && this.#idsOf(request),
      countedOwners: hold && [idOwnerKey(this.#schema, subject)],
    }
    return new TakeWork(footprint, this.#schema, request, this.#late)
  }

  read(request: ReadRequest): Work<ReadReply> {
    const rows = this.#rowsOf(request.subject, request.categories, request.layers)
    return this.#work({ rows }, true, { isLook: true, decide: (step) => step.counters(this.#schema).read(request) })
  }

  settle(request: SettleRequest): Work<void> {
    const { subject, category, layers, id } = request
    const rows = this.#rowsOf(subject, [category], layers)
    return this.#work({ rows, ids: this.#idsOf(request) }, id !== undefined, {
      decide: (step) => step.counters(this.#schema).settle(request),
    })
  }

  reset(request: ResetRequest): Work<void> {
    const footprint = { rows: this.#rowsOf(request.subject, request.categories, request.layers) }
    return {
      ...this.#work(footprint, true, { decide: () => undefined }),
      decide: (step) => {
        step.mend(footprint, this.#schema)
        step.counters(this.#schema).reset(request)
      },
    }
  }

  extend(request: ExtendRequest): Work<HoldReply> {
    return this.#work({ ids: this.#idsOf(request) }, true, { decide: (step) => this.#holds(step).extend(request) })
  }

  grow(request: GrowRequest): Work<HoldReply> {
    const { subject, category, quotas } = request
    const ids = this.#idsOf(request)
    // Nobody could tell a growth that is made again from another one.
    return this.#work({ rows: this.#rowsOf(subject, [category], quotas.layers), ids }, false, {
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
    const rows = this.#rowsOf(subject, [category], quotas.layers)
    return this.#work({ rows, ids: this.#idsOf(request) }, true, {
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
    if (holds === undefined) throw new TypeError('counters of a scratch have holds')
    return holds
  }

  #idsOf({ subject, category, id }: Omit<HoldRef, 'id'> & { readonly id?: ReservationId | undefined }): IdPlace[] {
    if (id === undefined) return []
    return [{ category: this.#schema.categories[category]!, owner: idOwnerKey(this.#schema, subject), id: id.id }]
  }

  #rowsOf(subject: Subject, categories: readonly number[], layers: readonly number[]): RowPlace[] {
    const places: RowPlace[] = []
    for (const index of layers) {
      const layer = this.#schema.layers[index]!
      const key = layerKey(layer, subject)
      for (const category of categories) {
        places.push({ layer: layer.name, category: this.#schema.categories[category]!, key })
      }
    }
    return places
  }
}

/** A decision: a class, since there are so many. */
class TakeWork implements Work<TakeReply> {
  readonly footprint: Footprint
  readonly isLook = false
  readonly #schema: StoreSchema
  readonly #request: TakeRequest
  readonly #late: LateEnds

  constructor(footprint: Footprint, schema: StoreSchema, request: TakeRequest, late: LateEnds) {
    this.footprint = footprint
    this.#schema = schema
    this.#request = request
    this.#late = late
  }

  get repeatable(): boolean {
    return this.#request.id !== undefined
  }

  decide(step: Step): TakeReply {
    step.check(this.footprint)
    // What an id was used for is told whatever the settings.
    const isKnown = this.footprint.ids?.some((place) => step.hasRecord(place)) === true
    if (!isKnown && isStale(step, this.#request)) return staleReply(step)
    return step.counters(this.#schema).take(this.#request)
  }

  at(reply: TakeReply, now: number): TakeReply {
    return { ...reply, now }
  }

  undo({ outcome, states }: TakeReply): void {
    if (outcome !== 'admitted') return
    const { subject, category, quotas, id, hold, costs } = this.#request
    const giveBack = costs.slice(0, -1)
    if (hold !== undefined && id !== undefined) {
      this.#late.cancel({ subject, category, id, quotas, as: 'cancelled', overrun: 'refuse', maxOverrun: giveBack })
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

/** The end of a hold that nobody settled: what is past its end is settled before anything is decided. */
export function endWork(footprint: Footprint): Work<void> {
  return { footprint, repeatable: true, isLook: false, decide: () => undefined }
}

function staleReply({ now, revision }: Step): { readonly outcome: 'stale'; readonly now: number } & {
  readonly states: readonly number[]
  readonly settingsRevision: string
} {
  return { outcome: 'stale', now, states: [], settingsRevision: revision }
}

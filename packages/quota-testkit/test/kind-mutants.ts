import type { Owner } from '@scoregw/quota/internal'
import type {
  ExtendRequest,
  GrowRequest,
  HoldReply,
  ListHoldsReply,
  ResetRequest,
  SettleHoldReply,
  SettleHoldRequest,
  SettleRequest,
  TakeReply,
  TakeRequest,
} from '@scoregw/quota/store'
import {
  ModelledCounters,
  modelStore,
  type PlacedSlots,
  type PlacedWindow,
  type Where,
} from '../src/model/model-store.ts'
import type { ModelSpan } from '../src/model/model-windows.ts'
import { BROKEN_COUNTERS } from './hold-mutants.ts'
import type { Mutant } from './mutant.ts'

function mutant(fault: string, Counters: typeof ModelledCounters): Mutant {
  return { fault, make: (clock) => modelStore(clock, Counters), unseenByHistories: true }
}

/** Counters that take another request than they are given. */
function taking(change: (request: TakeRequest, counters: ModelledCounters) => TakeRequest): typeof ModelledCounters {
  return class extends ModelledCounters {
    override take(request: TakeRequest): TakeReply {
      return super.take(change(request, this))
    }
  }
}

/** Counters that settle another request about a hold than they are given. */
function settlingHolds(
  change: (request: SettleHoldRequest, counters: ModelledCounters) => SettleHoldRequest,
): typeof ModelledCounters {
  return class extends ModelledCounters {
    override settleHold(request: SettleHoldRequest): SettleHoldReply {
      return super.settleHold(change(request, this))
    }
  }
}

function recordOf(counters: ModelledCounters, request: SettleHoldRequest | ExtendRequest) {
  return counters.model.state.records[counters.id(request, request.id).name]
}

/** Counters to which something happens after a take. */
function afterTaking(
  touch: (counters: ModelledCounters, request: TakeRequest, reply: TakeReply) => void,
): typeof ModelledCounters {
  return class extends ModelledCounters {
    override take(request: TakeRequest): TakeReply {
      const reply = super.take(request)
      touch(this, request, reply)
      return reply
    }
  }
}

function whereOf({ subject, set, quotas, periods }: TakeRequest): Where {
  return { subject, set, ...quotas, periods }
}

/** Stores that are wrong in one way each about windows of the calendar. */
export const CALENDAR_MUTANTS: readonly Mutant[] = [
  mutant(
    'a calendar window is open 1 ms too long',
    class extends ModelledCounters {
      override get now(): number {
        return super.now
      }

      override span(where: Where, at: number): ModelSpan | undefined {
        const before = new ModelledCounters(this.schema, this.model)
        Object.defineProperty(before, 'now', { value: this.now - 1 })
        return before.span(where, at) ?? super.span(where, at)
      }
    },
  ),
  mutant(
    'the clock is never outside of the periods',
    class extends ModelledCounters {
      override span(where: Where, at: number): ModelSpan | undefined {
        return super.span(where, at) ?? { periodStart: this.now, periodEnd: this.now + 1_000 }
      }
    },
  ),
  mutant(
    'what is stale is charged',
    class extends ModelledCounters {
      override take(request: TakeRequest): TakeReply {
        const reply = super.take(request)
        const { now } = this
        if (reply.outcome === 'stale' && request.settingsRevision === undefined) {
          const periods = request.periods?.map((_, at) => now + (at % 3) * 1_000)
          super.take({ ...request, periods })
        }
        return reply
      }
    },
  ),
  mutant(
    'a calendar window opens at the instant',
    afterTaking((counters, request, { outcome }) => {
      for (const { name, span } of counters.windows(whereOf(request)) ?? []) {
        const window = counters.model.state.windows[name]
        if (outcome === 'admitted' && window && 'periodStart' in span && window.startedAt === span.periodStart)
          window.startedAt = counters.now
      }
    }),
  ),
  mutant(
    'a calendar window opens twice at one start',
    class extends ModelledCounters {
      override reset(request: ResetRequest): void {
        for (const at of request.limits) {
          const name = this.name(request.subject, at)
          if (name.includes('calendar')) delete this.model.state.windows[name]
        }
        super.reset(request)
      }
    },
  ),
  mutant(
    'tokens go back to whatever period it is',
    class extends ModelledCounters {
      override settle(request: SettleRequest): void {
        const states = request.states.map((value, at) => {
          const name = this.name(request.subject, Math.floor(at / 2))
          return at % 2 === 0 && name.includes('calendar')
            ? (this.model.state.windows[name]?.startedAt ?? value)
            : value
        })
        super.settle({ ...request, states })
      }
    },
  ),
  mutant(
    'periods are those of the first who asked',
    class extends ModelledCounters {
      #periods: readonly number[] | undefined

      override span(where: Where, at: number): ModelSpan | undefined {
        this.#periods ??= where.periods
        return super.span({ ...where, periods: this.#periods }, at)
      }
    },
  ),
  mutant(
    'all layers have the periods of the first',
    class extends ModelledCounters {
      override span(where: Where, at: number): ModelSpan | undefined {
        const first = this.places.findIndex(({ layer }) => layer === this.places[at]?.layer)
        return super.span(where, at - first)
      }
    },
  ),
]

/** Stores that are wrong in one way each about slots. */
export const SLOTS_MUTANTS: readonly Mutant[] = [
  mutant(
    'one slot more than the limit',
    class extends ModelledCounters {
      override slots(where: Where): PlacedSlots[] {
        return super.slots(where).map((slots) => ({ ...slots, limit: slots.limit + 1 }))
      }
    },
  ),
  mutant(
    'slots are checked in the first layer alone',
    class extends ModelledCounters {
      override slots(where: Where): PlacedSlots[] {
        return super.slots(where).map((slot, at) => (at === 0 ? slot : { ...slot, limit: Number.POSITIVE_INFINITY }))
      }
    },
  ),
  mutant(
    'every request takes a slot',
    taking((request) => (request.hold ? { ...request, costs: request.costs.with(-1, 1) } : request)),
  ),
  mutant(
    'a slot is taken where a window refuses',
    afterTaking((counters, request, { outcome }) => {
      if (outcome !== 'refused' || request.costs.at(-1) !== 1) return
      const { slots } = counters.model.state
      for (const { name } of counters.slots(whereOf(request))) slots[name] = [...(slots[name] ?? []), 'nobody']
    }),
  ),
  mutant(
    'windows are charged where a slot is missing',
    afterTaking((counters, request, { outcome }) => {
      if (outcome !== 'refused' || request.costs.at(-1) !== 1) return
      counters.model.take({ costs: counters.named(request.costs), windows: counters.windows(whereOf(request)) ?? [] })
    }),
  ),
  mutant(
    'a reset frees slots',
    class extends ModelledCounters {
      override reset(request: ResetRequest): void {
        super.reset(request)
        for (const at of request.limits) delete this.model.state.slots[this.name(request.subject, at)]
      }
    },
  ),
  mutant(
    'slots are free once the windows have ended',
    class extends ModelledCounters {
      override end(): void {
        super.end()
        if (this.model.windows.ends().length > 0) return
        for (const name of Object.keys(this.model.state.slots)) this.model.state.slots[name] = []
      }
    },
  ),
  mutant(
    'only slots of the layers in force are freed',
    class extends ModelledCounters {
      override settleHold(request: SettleHoldRequest): SettleHoldReply {
        const before = structuredClone(this.model.state.slots)
        const reply = super.settleHold(request)
        const inForce = this.names({ ...request, ...request.quotas })
        for (const [name, taken] of Object.entries(before)) {
          if (!inForce.includes(name)) this.model.state.slots[name] = taken
        }
        return reply
      }
    },
  ),
  mutant(
    'every settling frees a slot, whoever has it',
    class extends ModelledCounters {
      override settleHold(request: SettleHoldRequest): SettleHoldReply {
        const reply = super.settleHold(request)
        for (const { name } of this.slots({ ...request, ...request.quotas }))
          if (reply.outcome === 'settled') this.model.state.slots[name] = this.model.state.slots[name]?.slice(1) ?? []
        return reply
      }
    },
  ),
]

/** Stores that are wrong in one way each about holds. */
export const HOLD_MUTANTS: readonly Mutant[] = [
  ...BROKEN_COUNTERS.filter(({ isOfMachine }) => isOfMachine !== true).map(
    ({ fault, Counters }): Mutant => ({
      fault,
      make: (clock) => modelStore(clock, ModelledCounters, Counters),
      unseenByHistories: true,
    }),
  ),
  mutant(
    'holds end 1 ms too early',
    class extends ModelledCounters {
      override end(): void {
        for (const [, { hold }, endsAt] of this.model.open())
          if (hold && endsAt === this.now + 1) hold.endsAt = this.now
        super.end()
      }
    },
  ),
  mutant(
    'holds end 1 ms too late',
    class extends ModelledCounters {
      override take(request: TakeRequest): TakeReply {
        const { hold } = request
        const reply = super.take({ ...request, hold: hold && { ...hold, ttlMs: hold.ttlMs + 1 } })
        return reply.endsAt === undefined ? reply : { ...reply, endsAt: reply.endsAt - 1 }
      }
    },
  ),
  mutant(
    'what a hold had is given back twice',
    class extends ModelledCounters {
      override end(): void {
        const due = this.model.open().filter(([, , endsAt]) => this.now >= endsAt)
        super.end()
        for (const [, { charged }] of due) {
          for (const [name, { startedAt, amount }] of Object.entries(charged))
            this.model.windows.refund(name, startedAt, amount)
        }
      }
    },
  ),
  mutant(
    'tokens of a hold go back to whatever window is there',
    class extends ModelledCounters {
      override end(): void {
        for (const [, { charged }] of this.model.open())
          for (const [name, charge] of Object.entries(charged))
            charged[name] = { ...charge, startedAt: this.model.state.windows[name]?.startedAt ?? -1 }
        super.end()
      }
    },
  ),
  mutant(
    'an extension sets the end',
    class extends ModelledCounters {
      override extend(request: ExtendRequest): HoldReply {
        const known = recordOf(this, request)?.hold
        if (known && known.endsAt > this.now) known.endsAt = this.now + 1
        return super.extend(request)
      }
    },
  ),
  mutant(
    'anybody may extend a hold',
    class extends ModelledCounters {
      override extend(request: ExtendRequest): HoldReply {
        const nonce = recordOf(this, request)?.holder ?? request.id.nonce
        return super.extend({ ...request, id: { ...request.id, nonce } })
      }
    },
  ),
  mutant(
    'a hold grows as far as there is room',
    class extends ModelledCounters {
      override grow(request: GrowRequest): HoldReply {
        const reply = super.grow(request)
        const room = this.model.room(this.windows({ ...request, ...request.quotas }) ?? [], 'tokens')
        if (reply.outcome === 'refused' && room > 0) super.grow({ ...request, costs: [room, 0] })
        return reply
      }
    },
  ),
  mutant(
    'a hold grows whatever the limits',
    class extends ModelledCounters {
      override grow(request: GrowRequest): HoldReply {
        const limits = request.quotas.limits.map(() => Number.POSITIVE_INFINITY)
        return super.grow({ ...request, quotas: { ...request.quotas, limits } })
      }
    },
  ),
  mutant(
    'the excess is never charged',
    settlingHolds((request) => ({ ...request, maxOverrun: [0] })),
  ),
  mutant(
    'what is to fit is charged whatever the limits',
    settlingHolds((request) => ({ ...request, overrun: request.overrun === 'fit' ? 'charge' : request.overrun })),
  ),
  mutant(
    'what is to be charged is charged as it fits',
    settlingHolds((request) => ({ ...request, overrun: request.overrun === 'charge' ? 'fit' : request.overrun })),
  ),
  mutant(
    'what is to fit goes by the first window',
    class extends ModelledCounters {
      #isSettling = false

      override settleHold(request: SettleHoldRequest): SettleHoldReply {
        this.#isSettling = request.overrun === 'fit'
        const reply = super.settleHold(request)
        this.#isSettling = false
        return reply
      }

      override windows(where: Where): PlacedWindow[] | undefined {
        const windows = super.windows(where)
        if (!this.#isSettling) return windows
        return windows?.map((window, at) => (at === 0 ? window : { ...window, limit: Number.POSITIVE_INFINITY }))
      }
    },
  ),
  mutant(
    'a commit above is refused though it is to be charged',
    settlingHolds((request) => ({ ...request, overrun: 'refuse' })),
  ),
  mutant(
    'a refused commit settles the hold',
    class extends ModelledCounters {
      override settleHold(request: SettleHoldRequest): SettleHoldReply {
        const reply = super.settleHold(request)
        if (reply.outcome === 'above') super.settleHold({ ...request, as: 'cancelled' })
        return reply
      }
    },
  ),
  mutant(
    'a late commit is charged wherever it is late',
    settlingHolds((request, counters) => {
      const isLate = recordOf(counters, request)?.state === 'expired'
      return isLate ? { ...request, overrun: 'charge' } : request
    }),
  ),
  mutant(
    'a late commit is charged without a bound',
    settlingHolds((request, counters) => {
      counters.end()
      const isLate = recordOf(counters, request)?.state === 'expired'
      return isLate ? { ...request, maxOverrun: [1_000] } : request
    }),
  ),
  mutant(
    'a late commit charges what it overran alone',
    class extends ModelledCounters {
      override settleHold(request: SettleHoldRequest): SettleHoldReply {
        this.end()
        const known = recordOf(this, request)
        if (known?.state === 'expired') known.costs = {}
        return super.settleHold(request)
      }
    },
  ),
  mutant(
    'a repeated commit is a new one',
    class extends ModelledCounters {
      override settleHold(request: SettleHoldRequest): SettleHoldReply {
        const known = recordOf(this, request)
        if (known?.state === 'committed' && request.as === 'committed') known.state = 'expired'
        return super.settleHold(request)
      }
    },
  ),
  mutant(
    'a cancel after a commit gives back',
    class extends ModelledCounters {
      override settleHold(request: SettleHoldRequest): SettleHoldReply {
        const known = recordOf(this, request)
        if (known?.state === 'committed' && request.as === 'cancelled') known.state = 'reserved'
        return super.settleHold(request)
      }
    },
  ),
  mutant(
    'a cancel after the end gives back',
    class extends ModelledCounters {
      override settleHold(request: SettleHoldRequest): SettleHoldReply {
        this.end()
        const known = recordOf(this, request)
        if (known?.state === 'expired' && request.as === 'cancelled') known.state = 'reserved'
        return super.settleHold(request)
      }
    },
  ),
  mutant(
    'anybody may settle a hold',
    settlingHolds((request, counters) => ({
      ...request,
      id: { ...request.id, nonce: recordOf(counters, request)?.holder ?? request.id.nonce },
    })),
  ),
  mutant(
    'tokens go back to the layers in force alone',
    class extends ModelledCounters {
      override settleHold(request: SettleHoldRequest): SettleHoldReply {
        const known = recordOf(this, request)
        const inForce = this.names({ ...request, ...request.quotas })
        for (const name of Object.keys(known?.charged ?? {})) if (!inForce.includes(name)) delete known?.charged[name]
        return super.settleHold(request)
      }
    },
  ),
  mutant(
    'a subject may have as many holds as it likes',
    taking((request) => ({ ...request, hold: request.hold && { ...request.hold, maxHolds: 1_000 } })),
  ),
  mutant(
    'a repeated reservation is one hold too many',
    class extends ModelledCounters {
      override take(request: TakeRequest): TakeReply {
        const owner = this.owner(request.subject)
        const isFull = request.hold && this.model.open(owner).length >= request.hold.maxHolds
        return isFull ? { outcome: 'too_many_holds', now: this.now, states: [] } : super.take(request)
      }
    },
  ),
  mutant(
    'a record is forgotten with the end of its hold',
    class extends ModelledCounters {
      override end(): void {
        super.end()
        const { records } = this.model.state
        for (const [name, { state }] of Object.entries(records)) if (state === 'expired') delete records[name]
      }
    },
  ),
  mutant(
    'the record of an open hold is forgotten after its time',
    class extends ModelledCounters {
      override end(): void {
        super.end()
        const { records } = this.model.state
        for (const [name, { hold, ttlMs }] of Object.entries(records))
          if (hold && this.now >= hold.takenAt + ttlMs) delete records[name]
      }
    },
  ),
  mutant(
    'all holds are listed, whoever has them',
    class extends ModelledCounters {
      override list(): ListHoldsReply {
        const owners = this.model.open().map(([, record]) => JSON.parse(record.hold?.owner ?? '') as Owner)
        const subjects = new Set(owners.map(({ key }) => key))
        return { holds: [...subjects].flatMap((subject) => super.list(subject).holds) }
      }
    },
  ),
  mutant(
    'holds are listed in the order in which they were taken',
    class extends ModelledCounters {
      override list(subject: string): ListHoldsReply {
        const { holds } = super.list(subject)
        return { holds: [...holds].sort((a, b) => a.takenAt - b.takenAt) }
      }
    },
  ),
]

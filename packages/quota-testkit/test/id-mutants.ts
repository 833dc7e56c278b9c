import { layerKey } from '@scoregw/quota/internal'
import type { ReservationId, SettleRequest, TakeOutcome, TakeReply, TakeRequest } from '@scoregw/quota/store'
import { type IdRecord, MapCounters } from './map-store.ts'
import type { Mutant } from './mutant.ts'

type WithId = TakeRequest | SettleRequest

/** Counters whose ids follow another key. */
function keyedBy(key: (request: WithId, id: string, counters: MapCounters) => unknown): typeof MapCounters {
  return class extends MapCounters {
    override idKey(request: WithId, { id }: ReservationId): string {
      return JSON.stringify(key(request, id, this))
    }
  }
}

/** Counters that see another time when they look at an id. */
function rememberingUntil(change: (now: number) => number): typeof MapCounters {
  return class extends MapCounters {
    override record(key: string, now: number): IdRecord | undefined {
      return super.record(key, change(now))
    }
  }
}

function ownKeys({ data: { schema } }: MapCounters, { subject }: WithId): string[] {
  return schema.layers.filter(({ shared }) => !shared).map((layer) => layerKey(layer, subject))
}

/** Stores that are wrong in one way each about reservation ids. */
export const ID_MUTANTS: readonly Mutant[] = [
  {
    fault: 'ids are ignored',
    Counters: class extends MapCounters {
      override record(): IdRecord | undefined {
        return undefined
      }
    },
  },
  {
    fault: 'every holder of an id is told to work',
    seed: 3,
    Counters: class extends MapCounters {
      override repeat(record: IdRecord, id: ReservationId): TakeOutcome {
        return super.repeat(record, { ...id, nonce: record.nonce })
      }
    },
  },
  {
    fault: 'anybody may cancel an id',
    Counters: class extends MapCounters {
      override settleId(request: SettleRequest, id: ReservationId): boolean {
        const nonce = this.record(this.idKey(request, id), this.data.clock.now())?.nonce ?? id.nonce
        return super.settleId(request, { ...id, nonce })
      }
    },
    unseenByHistories: true,
  },
  {
    fault: 'a reservation under an id is settled as often as asked',
    unseenByHistories: true,
    Counters: class extends MapCounters {
      override settleId(request: SettleRequest, id: ReservationId): boolean {
        const settles = super.settleId(request, id)
        return settles || this.record(this.idKey(request, id), this.data.clock.now())?.nonce === id.nonce
      }
    },
  },
  {
    fault: 'a cancelled id can be used again',
    seed: 13,
    Counters: class extends MapCounters {
      override settleId(request: SettleRequest, id: ReservationId): boolean {
        const settles = super.settleId(request, id)
        if (settles && request.as === 'cancelled') this.data.ids.delete(this.idKey(request, id))
        return settles
      }
    },
  },
  {
    fault: 'a cancel that overtakes its reserve is forgotten',
    seed: 4,
    Counters: class extends MapCounters {
      override settleId(request: SettleRequest, id: ReservationId): boolean {
        const known = this.record(this.idKey(request, id), this.data.clock.now()) !== undefined
        return known && super.settleId(request, id)
      }
    },
  },
  {
    fault: 'an id may be used for something else',
    seed: 8,
    Counters: class extends MapCounters {
      override repeat(record: IdRecord, id: ReservationId): TakeOutcome {
        return super.repeat(record, { ...id, fingerprint: record.fingerprint })
      }
    },
  },
  {
    fault: 'a refusal uses the id up',
    seed: 2,
    Counters: class extends MapCounters {
      override decide(request: TakeRequest, now: number): TakeReply {
        const reply = super.decide(request, now)
        const { id } = request
        if (reply.outcome === 'refused' && id) this.remember(this.idKey(request, id), id, 'reserved', reply.states)
        return reply
      }
    },
  },
  {
    fault: 'an id is not remembered where the price is 0',
    seed: 4,
    Counters: class extends MapCounters {
      override take(request: TakeRequest): TakeReply {
        return super.take(request.costs[0] === 0 ? { ...request, id: undefined } : request)
      }
    },
  },
  { fault: 'ids of all subjects are one', seed: 2, Counters: keyedBy((_, id) => id) },
  {
    fault: 'the parts of an id are glued together',
    unseenByHistories: true,
    Counters: keyedBy((request, id, counters) => `${ownKeys(counters, request)[0]}:${id}`),
  },
  {
    fault: 'an id belongs to the keys in all layers',
    seed: 4,
    Counters: keyedBy((request, id, counters) => [id, ...ownKeys(counters, request)]),
  },
  {
    fault: 'an id belongs to the limits that count it',
    seed: 8,
    Counters: keyedBy((request, id, counters) => [request.set, id, ownKeys(counters, request)[0]]),
  },
  { fault: 'an id is forgotten 1 ms too early', seed: 34, Counters: rememberingUntil((now) => now + 1) },
  { fault: 'an id is remembered for ever', seed: 2, Counters: rememberingUntil(() => 0) },
  {
    fault: 'a settlement does not lengthen the life of an id',
    unseenByHistories: true,
    Counters: class extends MapCounters {
      override settleId(request: SettleRequest, id: ReservationId): boolean {
        const key = this.idKey(request, id)
        const before = this.record(key, this.data.clock.now())
        const settles = super.settleId(request, id)
        const after = this.data.ids.get(key)
        if (before && after) this.data.ids.set(key, { ...after, expiresAt: before.expiresAt })
        return settles
      }
    },
  },
]

import type { LayerDefinition, ReservationId, SettleRequest, TakeOutcome, TakeReply, TakeRequest } from '@scoregw/quota'
import { MapStore } from './map-store.ts'
import type { Mutant } from './mutant.ts'

type RecordOfStore = MapStore['ids'] extends Map<string, infer R> ? R : never

/** Stores that are wrong in one way each about reservation ids. */
export const ID_MUTANTS: readonly Mutant[] = [
  {
    fault: 'ids are ignored',
    Store: class extends MapStore {
      override record(): RecordOfStore | undefined {
        return undefined
      }
    },
  },
  {
    fault: 'every holder of an id is told to work',
    Store: class extends MapStore {
      override repeat(record: RecordOfStore, id: ReservationId): TakeOutcome {
        return super.repeat(record, { ...id, nonce: record.nonce })
      }
    },
  },
  {
    fault: 'anybody may cancel an id',
    Store: class extends MapStore {
      override settleId(request: SettleRequest, id: ReservationId): boolean {
        const nonce = this.record(request, id, this.clock.now())?.nonce ?? id.nonce
        return super.settleId(request, { ...id, nonce })
      }
    },
    unseenByHistories: true,
  },
  {
    fault: 'a reservation under an id is settled as often as asked',
    unseenByHistories: true,
    Store: class extends MapStore {
      override settleId(request: SettleRequest, id: ReservationId): boolean {
        return super.settleId(request, id) || this.record(request, id, this.clock.now())?.nonce === id.nonce
      }
    },
  },
  {
    fault: 'a cancelled id can be used again',
    Store: class extends MapStore {
      override settleId(request: SettleRequest, id: ReservationId): boolean {
        const settles = super.settleId(request, id)
        if (settles && request.as === 'cancelled') this.ids.delete(this.idKey(request, id))
        return settles
      }
    },
  },
  {
    fault: 'a cancel that overtakes its reserve is forgotten',
    Store: class extends MapStore {
      override settleId(request: SettleRequest, id: ReservationId): boolean {
        if (this.record(request, id, this.clock.now()) === undefined) return false
        return super.settleId(request, id)
      }
    },
  },
  {
    fault: 'an id may be used for something else',
    Store: class extends MapStore {
      override repeat(record: RecordOfStore, id: ReservationId): TakeOutcome {
        return super.repeat(record, { ...id, fingerprint: record.fingerprint })
      }
    },
  },
  {
    fault: 'a refusal uses the id up',
    Store: class extends MapStore {
      override decide(request: TakeRequest, now: number): TakeReply {
        const reply = super.decide(request, now)
        const { id } = request
        if (reply.outcome === 'refused' && id !== undefined) this.remember(request, id, 'reserved', reply.states, now)
        return reply
      }
    },
  },
  {
    fault: 'ids of all subjects are one',
    Store: class extends MapStore {
      override idKey(_: TakeRequest | SettleRequest, { id }: ReservationId): string {
        return id
      }
    },
  },
  {
    fault: 'the parts of an id are glued together',
    unseenByHistories: true,
    Store: class extends MapStore {
      override idKey({ subject, category }: TakeRequest | SettleRequest, { id }: ReservationId): string {
        const own = (this.schema?.layers ?? []).filter((layer: LayerDefinition) => !layer.shared)
        const keys = own.map((layer) => (typeof subject === 'string' ? subject : subject[layer.name]))
        return `${category}:${keys.join(':')}:${id}`
      }
    },
  },
  {
    fault: 'an id is forgotten 1 ms too early',
    Store: class extends MapStore {
      override record(request: TakeRequest | SettleRequest, id: ReservationId, now: number): RecordOfStore | undefined {
        return super.record(request, id, now + 1)
      }
    },
  },
  {
    fault: 'an id is remembered for ever',
    Store: class extends MapStore {
      override record(request: TakeRequest | SettleRequest, id: ReservationId): RecordOfStore | undefined {
        return super.record(request, id, 0)
      }
    },
  },
  {
    fault: 'a settlement does not lengthen the life of an id',
    unseenByHistories: true,
    Store: class extends MapStore {
      override settleId(request: SettleRequest, id: ReservationId): boolean {
        const before = this.record(request, id, this.clock.now())?.expiresAt
        const settles = super.settleId(request, id)
        const record = this.ids.get(this.idKey(request, id))
        if (before !== undefined && record !== undefined) record.expiresAt = before
        return settles
      }
    },
  },
]

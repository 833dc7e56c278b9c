import { ownerOf } from '@scoregw/quota/internal'
import type {
  HoldRef,
  ReadReply,
  ReadRequest,
  ResetRequest,
  SettleHoldReply,
  SettleHoldRequest,
  SettleRequest,
  StoreSchema,
  SubjectKeys,
  TakeReply,
  TakeRequest,
} from '@scoregw/quota/store'
import type { ModelId } from '../src/model/model-counters.ts'
import { ModelledCounters } from '../src/model/model-store.ts'

/** The set of all limits. */
const ALL = 0

/** Stores that are wrong in one way each about sets of limits and layers with different ones. */
export const SET_MUTANTS: readonly { readonly fault: string; readonly Counters: typeof ModelledCounters }[] = [
  {
    fault: 'a take charges the limits of another set',
    Counters: class extends ModelledCounters {
      override take(request: TakeRequest): TakeReply {
        return super.take({ ...request, set: ALL })
      }
    },
  },
  {
    fault: 'a take skips the last limit of its set',
    Counters: class extends ModelledCounters {
      override take(request: TakeRequest): TakeReply {
        const last = this.schema.sets[request.set]?.at(-1) ?? -1
        const limits = request.quotas.limits.map((limit, at) => (at === last ? Number.POSITIVE_INFINITY : limit))
        return super.take({ ...request, quotas: { ...request.quotas, limits } })
      }
    },
  },
  {
    fault: 'a read shows limits that the set leaves out',
    Counters: class extends ModelledCounters {
      override read(request: ReadRequest): ReadReply {
        return super.read({ ...request, set: ALL })
      }
    },
  },
  {
    fault: 'a settlement refunds the first limit of its set only',
    Counters: class extends ModelledCounters {
      override settle(request: SettleRequest): void {
        super.settle({ ...request, layers: request.layers.slice(0, 1) })
      }
    },
  },
  {
    fault: 'a commit above its hold charges the limits of another set',
    Counters: class extends ModelledCounters {
      override settleHold(request: SettleHoldRequest): SettleHoldReply {
        return super.settleHold({ ...request, set: ALL })
      }
    },
  },
  {
    fault: 'a reset closes the whole row of a limit',
    Counters: class extends ModelledCounters {
      override reset({ subject, limits }: ResetRequest): void {
        const layers = limits.map((at) => this.places[at]?.layer)
        const rows = this.places.filter(({ layer }) => layers.includes(layer))
        super.reset({ subject, limits: rows.map(({ at }) => at) })
      }
    },
  },
  {
    fault: 'ids belong to the last layer in which the subject has a key',
    Counters: class extends ModelledCounters {
      override id({ subject }: Pick<HoldRef, 'subject'>, id: HoldRef['id']): ModelId {
        const name = JSON.stringify([ownerOf(reversed(this.schema), subject), id.id])
        return { ...super.id({ subject }, id), name }
      }
      override owner(subject: SubjectKeys): string {
        return JSON.stringify(ownerOf(reversed(this.schema), subject))
      }
    },
  },
]

function reversed({ layers }: StoreSchema): Pick<StoreSchema, 'layers'> {
  return { layers: layers.toReversed() }
}

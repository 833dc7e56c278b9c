import { QuotaError } from '@scoregw/quota'
import { type AsyncCounters, type AsyncHolds, SLOTS, type StoreSchema, TOKENS } from '@scoregw/quota/store'
import type { OneUnitCounters } from '../one-unit.ts'

type Promised<T> = {
  readonly [K in keyof T]: T[K] extends (...args: infer A) => PromiseLike<infer R> ? (...args: A) => Promise<R> : T[K]
}
type Counters = Promised<Omit<AsyncCounters, 'holds'>> & { readonly holds: Promised<AsyncHolds> }

/**
 * The counters of a schema that counts one unit.
 *
 * @throws {QuotaError} `store_unsupported` for a schema that counts several
 */
export function ofOneUnit({ units }: StoreSchema, counters: OneUnitCounters): Counters {
  if (units.length > 1) {
    throw new QuotaError('store_unsupported', `this store counts one unit, and the policy counts ${units.join(', ')}`)
  }
  const unit = units[0] ?? TOKENS
  const named = (tokens: number, slots: number) => ({
    ...(tokens > 0 && { [unit]: tokens }),
    ...(slots > 0 && { [SLOTS]: slots }),
  })
  const { holds } = counters
  return {
    take: ({ costs, hold, ...request }) =>
      counters.take({ ...request, cost: costs[0]!, hold: hold && { ...hold, slot: costs[1]! > 0 } }),
    read: (request) => counters.read(request),
    settle: (request) => counters.settle({ ...request, giveBack: request.giveBack[0]! }),
    reset: (request) => counters.reset(request),
    holds: {
      extend: (request) => holds.extend(request),
      grow: ({ costs, ...request }) => holds.grow({ ...request, tokens: costs[0]! }),
      async settle({ actual, maxOverrun, ...request }) {
        const reply = await holds.settle({ ...request, actual: actual?.[0], maxOverrun: maxOverrun[0]! })
        const { charged, uncharged, reserved, added } = reply
        const settled = { charged: [charged], uncharged: [uncharged], reserved: [reserved] }
        return { ...reply, ...settled, added: added === undefined ? undefined : [added] }
      },
      async list(request) {
        const reply = await holds.list(request)
        return {
          ...reply,
          holds: reply.holds.map(({ tokens, slot, ...hold }) => ({ ...hold, costs: named(tokens, Number(slot)) })),
        }
      },
      async sweep() {
        const { ended, open } = await holds.sweep()
        return { open, ended: ended.map(({ tokens, ...end }) => ({ ...end, costs: named(tokens, 0) })) }
      },
    },
  }
}

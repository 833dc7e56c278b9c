import { type CellDefinition, cellOfIdentity } from '@scoregw/quota/internal'
import type { CellSchema, SettleRequest, StoreSchema, TakeReply, TakeRequest } from '@scoregw/quota/store'
import type { ModelCosts } from '../src/model/model-counters.ts'
import { ModelledCounters, modelStore } from '../src/model/model-store.ts'
import type { Mutant } from './mutant.ts'

function mutant(fault: string, Counters: typeof ModelledCounters): Mutant {
  const capabilities = ['ids', 'sync', 'clock-steps', 'regroup'] as const
  return { fault, make: (clock) => modelStore(clock, Counters), capabilities, unseenByHistories: true }
}

const UNITS = ['requests', 'tokens', 'money']

/** Counters that do not check the limits of a unit. */
function unchecked(unit: string): typeof ModelledCounters {
  return class extends ModelledCounters {
    override windows(where: Parameters<ModelledCounters['windows']>[0]) {
      return super
        .windows(where)
        ?.map((window) => (window.unit === unit ? { ...window, limit: Number.POSITIVE_INFINITY } : window))
    }
  }
}

/** Counters that never give a unit back. */
function unreturned(unit: string): typeof ModelledCounters {
  return class extends ModelledCounters {
    override settle(request: SettleRequest): void {
      const at = this.schema.units.indexOf(unit)
      super.settle(at === -1 ? request : { ...request, refunds: request.refunds.with(at, 0) })
    }
  }
}

/** Counters whose schema is read in another way. */
function reading(change: (schema: StoreSchema) => StoreSchema): typeof ModelledCounters {
  return class extends ModelledCounters {
    constructor(...[schema, model]: ConstructorParameters<typeof ModelledCounters>) {
      super(change(schema), model)
    }
  }
}

function withCells(
  schema: StoreSchema,
  change: (cell: CellSchema) => Partial<CellDefinition | CellSchema>,
): StoreSchema {
  const changed = (cells: readonly CellSchema[]): CellSchema[] =>
    cells.map((cell) => ({ ...cell, ...change(cell) }) as CellSchema)
  return { ...schema, layers: schema.layers.map((layer) => ({ ...layer, cells: changed(layer.cells) })) }
}

/** Counters that take another cost than they are requested. */
function costing(change: (costs: readonly number[]) => readonly number[]): typeof ModelledCounters {
  return class extends ModelledCounters {
    override take(request: TakeRequest): TakeReply {
      return super.take({ ...request, costs: change(request.costs) })
    }
  }
}

/** Stores that are wrong in one way each about units. */
export const UNIT_MUTANTS: readonly Mutant[] = [
  ...UNITS.map((unit) => mutant(`the limits of ${unit} are not checked`, unchecked(unit))),
  ...UNITS.map((unit) => mutant(`${unit} are never given back`, unreturned(unit))),
  mutant(
    'a counter is recognised without its unit',
    reading((schema) => withCells(schema, ({ identity }) => ({ identity: identity.replace(/ unit:.*/, '') }))),
  ),
  mutant(
    'a counter is recognised by the place of its unit',
    reading((schema) =>
      withCells(schema, ({ identity, unit }) => ({ identity: `${identity.replace(/ unit:.*/, '')} ${unit}` })),
    ),
  ),
  mutant(
    'tokens have a name of their own in identities',
    reading((schema) =>
      withCells(schema, ({ identity }) =>
        cellOfIdentity(identity)?.unit === 'tokens' && schema.units.length > 1
          ? { identity: `${identity} unit:tokens` }
          : {},
      ),
    ),
  ),
  mutant(
    'everything is counted in every limit',
    costing((costs) => costs.map((cost, at) => (at === costs.length - 1 ? cost : Math.max(...costs)))),
  ),
  mutant(
    'only the first unit is counted',
    costing((costs) => costs.map((cost, at) => (at === 0 || at === costs.length - 1 ? cost : 0))),
  ),
  mutant(
    'a limit that is passed refuses also what costs nothing of it',
    class extends ModelledCounters {
      override take(request: TakeRequest): TakeReply {
        const { subject, set, quotas, periods } = request
        const { layers, limits } = quotas
        const states = this.view({ subject, set, layers, periods })
        const isPassed = limits.some((limit, at) => Number(states[2 * at + 1]) > limit)
        if (!isPassed || this.schema.units.length === 1) return super.take(request)
        return { outcome: 'refused', now: this.now, states }
      }
    },
  ),
  mutant(
    'windows open also for what costs nothing of them',
    class extends ModelledCounters {
      override take(request: TakeRequest): TakeReply {
        const reply = super.take(request)
        const where = { ...request, ...request.quotas }
        if (reply.outcome !== 'admitted' || this.schema.units.length === 1) return reply
        for (const { name, span } of this.windows(where) ?? []) this.model.windows.charge(name, span, 0)
        return { ...reply, states: this.view(where) }
      }
    },
  ),
  mutant(
    'all windows are moved to the present, whatever is asked of them',
    class extends ModelledCounters {
      override take(request: TakeRequest): TakeReply {
        for (const name of this.names({ ...request, ...request.quotas })) this.model.windows.moveToThePresent(name)
        return super.take(request)
      }
    },
  ),
  mutant(
    'lists leave out units that the policy does not have',
    class extends ModelledCounters {
      override list(subject: Parameters<ModelledCounters['list']>[0]): ReturnType<ModelledCounters['list']> {
        const { holds } = super.list(subject)
        const own = (costs: ModelCosts): ModelCosts =>
          Object.fromEntries(Object.entries(costs).filter(([unit]) => [...this.schema.units, 'slots'].includes(unit)))
        return { holds: holds.map((hold) => ({ ...hold, costs: own(hold.costs) })) }
      }
    },
  ),
]

import { CLOSED, layerKey } from '@scoregw/quota/internal'
import type { CellSchema, ResetRequest, StoreSchema, SubjectKeys, TakeReply, TakeRequest } from '@scoregw/quota/store'
import { type Cell, MapCounters } from './map-store.ts'
import type { Mutant } from './mutant.ts'

/** When rows end that live as long as the windows of the last writer, by their first cells. */
const ends = new WeakMap<number[], number>()

/** Counters that recognise a window by something else than its identity. */
function recognising(
  identity: (
    names: readonly unknown[],
    window: CellSchema,
    schema: StoreSchema,
    row: readonly CellSchema[],
  ) => unknown[],
): typeof MapCounters {
  return class extends MapCounters {
    override cell(names: readonly unknown[], window: CellSchema, at: number): Cell {
      const { schema, layout } = this.data
      const row = schema.layers[layout.layerOf[at] ?? -1]?.cells ?? []
      const key = JSON.stringify(identity(names, window, schema, row))
      const pair = this.data.cells.get(key) ?? [CLOSED, CLOSED]
      this.data.cells.set(key, pair)
      return [pair, window.lengthMs, window.unit, at]
    }
  }
}

/** The pairs of the same layer and subject, also those that the schema does not know. */
function rowOf({ data }: MapCounters, names: readonly unknown[]): number[][] {
  const prefix = JSON.stringify(names).slice(0, -1)
  return [...data.cells].filter(([key]) => key.startsWith(`${prefix},`)).map(([, pair]) => pair)
}

/** All the rows that a request is about, whole. */
function rows(counters: MapCounters, subject: SubjectKeys, set: number, layers: readonly number[]): number[][][] {
  const { schema, layout } = counters.data
  return layers.flatMap((index) => {
    const layer = schema.layers[index]
    if (layer === undefined || layout.counted[set]?.[index]?.length === 0) return []
    return [rowOf(counters, [layer.name, layerKey(layer, subject)])]
  })
}

/** Stores that are wrong in one way each about what several policies have in common. */
export const NAME_MUTANTS: readonly Mutant[] = [
  {
    fault: 'a window is recognised by its label alone',
    seed: 2,
    Counters: recognising((names, { label }) => [...names, label]),
  },
  {
    fault: 'a window is recognised by its length alone',
    seed: 6,
    Counters: recognising((names, { lengthMs }) => [...names, lengthMs]),
  },
  {
    fault: 'a window is recognised by its place in the row',
    Counters: recognising((names, { label }, _, row) => [...names, row.findIndex((each) => each.label === label)]),
  },
  {
    fault: 'another list of windows is another row',
    Counters: recognising((names, { label, lengthMs }, _, row) => [...names, label, lengthMs, row]),
  },
  {
    fault: 'a layer is recognised by its place',
    seed: 3,
    Counters: recognising(([layer, ...names], { label, lengthMs }, { layers }) => [
      layers.findIndex(({ name }) => name === layer),
      ...names,
      label,
      lengthMs,
    ]),
  },
  {
    fault: 'names are glued together',
    unseenByHistories: true,
    Counters: recognising((names, { label, lengthMs }) => [[...names, label, lengthMs].join('-')]),
  },
  {
    fault: 'counters begin anew with every schema that is opened',
    Counters: class extends MapCounters {
      constructor(data: MapCounters['data']) {
        super(data)
        data.cells.clear()
      }
    },
  },
  {
    fault: 'what a policy does not know is dropped when it writes',
    Counters: class extends MapCounters {
      override decide(request: TakeRequest, now: number): TakeReply {
        const cells = this.counted(request.subject, request.set, request.quotas.layers)
        const known = new Set(cells.map(([pair]) => pair))
        const reply = super.decide(request, now)
        if (reply.outcome !== 'admitted') return reply
        for (const row of rows(this, request.subject, request.set, request.quotas.layers)) {
          for (const pair of row) if (!known.has(pair)) pair.splice(0, 2, CLOSED, CLOSED)
        }
        return reply
      }
    },
  },
  {
    fault: 'a row ends with the windows of whoever wrote last',
    seed: 5,
    Counters: class extends MapCounters {
      override decide(request: TakeRequest, now: number): TakeReply {
        for (const row of rows(this, request.subject, request.set, request.quotas.layers)) {
          const end = row[0] && ends.get(row[0])
          if (end !== undefined && now >= end) for (const pair of row) pair.splice(0, 2, CLOSED, CLOSED)
        }
        const reply = super.decide(request, now)
        const longest = Math.max(...this.data.layout.cells.map(({ lengthMs }) => lengthMs))
        for (const row of rows(this, request.subject, request.set, request.quotas.layers)) {
          if (row[0] !== undefined) ends.set(row[0], now + longest)
        }
        return reply
      }
    },
  },
  {
    fault: 'a reset closes what the policy does not know',
    seed: 9,
    Counters: class extends MapCounters {
      override reset(request: ResetRequest): void {
        super.reset(request)
        const layers = new Set(request.limits.map((at) => this.data.layout.layerOf[at] ?? -1))
        for (const pair of rows(this, request.subject, 0, [...layers]).flat()) pair[1] = CLOSED
      }
    },
  },
  {
    fault: 'a reset stops where the first window is closed',
    seed: 2,
    Counters: class extends MapCounters {
      override reset(request: ResetRequest): void {
        for (const [layer] of this.data.schema.layers.entries()) {
          const limits = request.limits.filter((at) => this.data.layout.layerOf[at] === layer)
          const [first] = this.cells(request.subject, limits)
          if (first?.[0][1] !== CLOSED) super.reset({ ...request, limits })
        }
      }
    },
  },
  {
    fault: 'a charge takes it from the first window whether all are open',
    unseenByHistories: true,
    Counters: class extends MapCounters {
      override decide(request: TakeRequest, now: number): TakeReply {
        const cells = this.counted(request.subject, request.set, request.quotas.layers)
        const { layerOf } = this.data.layout
        for (const [pair, , , at] of cells) {
          const first = cells.find((each) => layerOf[each[3]] === layerOf[at])?.[0] ?? []
          if (first[1] !== CLOSED && pair[1] === CLOSED && Number(pair[0]) >= 0) pair[1] = 0
        }
        return super.decide(request, now)
      }
    },
  },
]

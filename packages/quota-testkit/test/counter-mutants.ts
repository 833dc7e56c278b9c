import { type Clock, QuotaError } from '@scoregw/quota'
import { CLOSED, usedIn } from '@scoregw/quota/internal'
import type {
  AsyncStore,
  CellSchema,
  ResetRequest,
  SettleRequest,
  SubjectKeys,
  TakeReply,
  TakeRequest,
} from '@scoregw/quota/store'
import { type Cell, MapCounters, mapStore } from './map-store.ts'
import type { Mutant } from './mutant.ts'

/** Counters that write the texts of subjects in a way of their own. */
function rekeyed(encode: (text: string) => string): typeof MapCounters {
  return class extends MapCounters {
    override cells(subject: SubjectKeys, limits: readonly number[]): Cell[] {
      const encoded =
        typeof subject === 'string'
          ? encode(subject)
          : Object.fromEntries(Object.entries(subject).map(([layer, key]) => [layer, encode(key ?? '')]))
      return super.cells(encoded, limits)
    }
  }
}

/** Counters that settle something else than they are asked to. */
function settling(change: (request: SettleRequest, counters: MapCounters) => SettleRequest): typeof MapCounters {
  return class extends MapCounters {
    override settle(request: SettleRequest): void {
      super.settle(change(request, this))
    }
  }
}

function cellsOf(counters: MapCounters, { subject, set, layers }: SettleRequest): Cell[] {
  return counters.counted(subject, set, layers)
}

/** The states that these cells have, as they are. */
function statesOf({ data }: MapCounters, cells: readonly Cell[]): number[] {
  const states = [...data.layout.blank]
  for (const [pair, , , at] of cells) states.splice(2 * at, 2, ...pair)
  return states
}

class EvictsTheOldest extends MapCounters {
  override decide(request: TakeRequest, now: number): TakeReply {
    const reply = super.decide(request, now)
    const { cells, schema } = this.data
    for (const key of cells.keys()) {
      if (cells.size <= 3 * (schema.sets[0]?.length ?? 0)) break
      cells.delete(key)
    }
    return reply
  }
}

class FullTooLate extends MapCounters {
  override cell(names: readonly unknown[], window: CellSchema, at: number): Cell {
    const before = this.data.cells.size
    const cell = super.cell(names, window, at)
    if (this.data.cells.size > before && before >= 4) throw new QuotaError('store_full', 'no room')
    return cell
  }
}

/** Reads, waits, and writes: another request comes in between. */
function notAtomic(clock: Clock): AsyncStore {
  const store = mapStore(clock)
  return {
    sync: false,
    open(schema) {
      const counters = store.open(schema) as MapCounters
      return {
        async take(request) {
          const { subject, set, quotas, costs } = request
          const cells = counters.counted(subject, set, quotas.layers)
          const now = clock.now()
          const free = cells.every(
            ([pair, lengthMs, unit, at]) =>
              usedIn(pair, 0, now - lengthMs) + (costs[unit] ?? 0) <= Number(quotas.limits[at]),
          )
          await Promise.resolve()
          const limits = quotas.limits.map((limit) => (free ? Number.POSITIVE_INFINITY : limit))
          return counters.take({ ...request, quotas: { ...quotas, limits } })
        },
        read: async (request) => counters.read(request),
        settle: async (request) => counters.settle(request),
        reset: async (request) => counters.reset(request),
      }
    },
  }
}

/** Stores that are wrong in one way each about refunds, resets, subjects and room. */
export const COUNTER_MUTANTS: readonly Mutant[] = [
  {
    fault: 'a refund goes into whatever window is there',
    seed: 4,
    Counters: settling((request, counters) => ({
      ...request,
      states: statesOf(counters, cellsOf(counters, request)),
    })),
  },
  {
    fault: 'a refund reopens a window that a reset closed',
    seed: 5,
    Counters: settling((request, counters) => {
      for (const [pair, , , at] of cellsOf(counters, request)) {
        if (pair[1] === CLOSED && pair[0] === request.states[2 * at]) pair[1] = 0
      }
      return request
    }),
  },
  {
    fault: 'used falls below zero',
    unseenByHistories: true,
    Counters: class extends MapCounters {
      override settle(request: SettleRequest): void {
        const cells = cellsOf(this, request)
        const before = cells.map(([pair]) => Number(pair[1]))
        super.settle(request)
        for (const [at, [pair]] of cells.entries()) {
          if (pair[1] === 0) pair[1] = Number(before[at]) - Number(request.refunds[0])
        }
      }
    },
  },
  {
    fault: 'nothing is ever given back',
    Counters: settling((request) => ({ ...request, refunds: request.refunds.map(() => 0) })),
  },
  {
    fault: 'a commit gives everything back',
    seed: 2,
    Counters: settling((request) => ({
      ...request,
      refunds: request.refunds.map((amount) => (request.as === 'committed' ? 1_000 : amount)),
    })),
  },
  {
    fault: 'a reset closes all limits',
    Counters: class extends MapCounters {
      override reset(request: ResetRequest): void {
        super.reset({ ...request, limits: this.data.schema.sets[0] ?? [] })
      }
    },
  },
  {
    fault: 'a reset does nothing',
    seed: 2,
    Counters: class extends MapCounters {
      override reset(): void {
        this.data.clock.now()
      }
    },
  },
  {
    fault: 'layers of one owner share their counters',
    // It needs layers such as `user/writes`, which the policies of histories don't have.
    unseenByHistories: true,
    Counters: class extends MapCounters {
      override cell([layer, ...names]: readonly unknown[], window: CellSchema, at: number): Cell {
        return super.cell([String(layer).split('/')[0], ...names], window, at)
      }
    },
  },
  {
    fault: 'the shared layer is counted for each subject',
    Counters: class extends MapCounters {
      #subject: SubjectKeys = ''

      override cells(subject: SubjectKeys, limits: readonly number[]): Cell[] {
        this.#subject = subject
        return super.cells(subject, limits)
      }

      override cell(names: readonly unknown[], window: CellSchema, at: number): Cell {
        return super.cell([...names, this.#subject], window, at)
      }
    },
  },
  { fault: 'live counters are evicted', seed: 2, Counters: EvictsTheOldest },
  {
    fault: 'store_full comes after a part was kept',
    Counters: FullTooLate,
    capabilities: ['ids', 'sync', 'bounded', 'regroup'],
    unseenByHistories: true,
  },
  {
    fault: 'unlimited room where a bound was promised',
    capabilities: ['ids', 'sync', 'bounded', 'regroup'],
    unseenByHistories: true,
  },
  {
    fault: 'texts that differ in lone surrogates are one',
    Counters: rekeyed((text) => Buffer.from(text).toString()),
    unseenByHistories: true,
  },
  { fault: 'texts end at a NUL', Counters: rekeyed((text) => text.split('\u0000')[0] ?? ''), unseenByHistories: true },
  { fault: 'texts are normalized', Counters: rekeyed((text) => text.normalize()), unseenByHistories: true },
  {
    fault: 'texts are cut at 255 characters',
    Counters: rekeyed((text) => text.slice(0, 255)),
    unseenByHistories: true,
  },
  { fault: 'texts lose their spaces', Counters: rekeyed((text) => text.trim()), unseenByHistories: true },
  {
    fault: 'look and charge are two steps',
    make: notAtomic,
    capabilities: ['ids', 'clock-steps', 'regroup'],
    unseenByHistories: true,
  },
]

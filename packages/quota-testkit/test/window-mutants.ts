import { add, CLOSED, reanchor, roll, usedIn } from '@scoregw/quota/internal'
import type { CellSchema, StoreSchema, TakeReply, TakeRequest } from '@scoregw/quota/store'
import { type Cell, MapCounters } from './map-store.ts'
import type { Mutant } from './mutant.ts'

/** Counters whose windows are of another length than they should be. */
function lasting(change: (lengthMs: number) => number): typeof MapCounters {
  return class extends MapCounters {
    override cell(names: readonly unknown[], window: CellSchema, at: number): Cell {
      const [pair, lengthMs, unit] = super.cell(names, window, at)
      return [pair, change(lengthMs), unit, at]
    }
  }
}

function opened(cells: readonly Cell[], now: number): void {
  for (const [pair, lengthMs] of cells) roll(pair, 0, now - lengthMs, now, now)
}

/** Counters that do something to each window before it is checked. */
function touching(touch: (pair: number[], now: number, lengthMs: number) => void): typeof MapCounters {
  return class extends MapCounters {
    override cell(names: readonly unknown[], window: CellSchema, at: number): Cell {
      const cell = super.cell(names, window, at)
      touch(cell[0], this.data.clock.now(), window.lengthMs)
      return cell
    }
  }
}

/** Counters that do something to the windows of a request after it was decided. */
function afterwards(
  touch: (cells: readonly Cell[], request: TakeRequest, reply: TakeReply, before: readonly number[]) => void,
): typeof MapCounters {
  return class extends MapCounters {
    override decide(request: TakeRequest, now: number): TakeReply {
      const cells = this.counted(request.subject, request.set, request.quotas.layers)
      const before = this.view(cells, now)
      const reply = super.decide(request, now)
      touch(cells, request, reply, before)
      return { ...reply, states: this.view(cells, now) }
    }
  }
}

/** Counters that are requested other limits than the request has. */
function limitedBy(change: (limit: number, index: number, schema: StoreSchema) => number): typeof MapCounters {
  return class extends MapCounters {
    override decide(request: TakeRequest, now: number): TakeReply {
      const limits = request.quotas.limits.map((limit, index) => change(limit, index, this.data.schema))
      return super.decide({ ...request, quotas: { ...request.quotas, limits } }, now)
    }
  }
}

/** Stores that are wrong in one way each about windows and their time. */
export const WINDOW_MUTANTS: readonly Mutant[] = [
  {
    fault: 'windows are charged one by one until one refuses',
    Counters: class extends MapCounters {
      override decide(request: TakeRequest, now: number): TakeReply {
        const { subject, set, quotas, costs } = request
        const cells = this.counted(subject, set, quotas.layers)
        const [cost = 0] = costs
        for (const [at, [pair, lengthMs, , position]] of cells.entries()) {
          const after = now - lengthMs
          if (usedIn(pair, 0, after) + cost > Number(quotas.limits[position])) break
          if (at < cells.length - 1) roll(pair, 0, after, now, now)
          if (at < cells.length - 1) add(pair, 0, cost)
          if (at === cells.length - 1) for (const [each] of cells.slice(0, -1)) each[1] = Number(each[1]) - cost
        }
        return super.decide(request, now)
      }
    },
  },
  {
    fault: 'only the first layer is checked',
    seed: 3,
    Counters: limitedBy((limit, index, { layers: [first] }) =>
      index < (first?.cells.length ?? 0) ? limit : Number.POSITIVE_INFINITY,
    ),
  },
  { fault: 'admits one token more than the limit', seed: 3, Counters: limitedBy((limit) => limit + 1) },
  {
    fault: 'a refused request opens windows',
    Counters: class extends MapCounters {
      override decide(request: TakeRequest, now: number): TakeReply {
        const reply = super.decide(request, now)
        const cells = this.counted(request.subject, request.set, request.quotas.layers)
        if (reply.outcome === 'refused') opened(cells, now)
        return reply
      }
    },
  },
  {
    fault: 'what costs nothing opens windows',
    Counters: class extends MapCounters {
      override decide(request: TakeRequest, now: number): TakeReply {
        const reply = super.decide(request, now)
        const cells = this.counted(request.subject, request.set, request.quotas.layers)
        if (request.costs[0] === 0) opened(cells, now)
        return reply
      }
    },
  },
  {
    fault: 'what costs nothing is refused where a limit was lowered',
    unseenByHistories: true,
    Counters: class extends MapCounters {
      override decide(request: TakeRequest, now: number): TakeReply {
        const reply = super.decide(request, now)
        const over = reply.states.some((used, at) => at % 2 === 1 && used > Number(request.quotas.limits[(at - 1) / 2]))
        return request.costs[0] === 0 && over ? { ...reply, outcome: 'refused' } : reply
      }
    },
  },
  {
    fault: 'a read opens windows',
    Counters: class extends MapCounters {
      override read(request: Parameters<MapCounters['read']>[0]): ReturnType<MapCounters['read']> {
        opened(this.counted(request.subject, request.set, request.layers), this.data.clock.now())
        return super.read(request)
      }
    },
  },
  {
    fault: 'a window opens twice at the same millisecond',
    seed: 2,
    Counters: touching((pair, now, lengthMs) => {
      if (pair[1] === CLOSED || now >= Number(pair[0]) + lengthMs) pair.splice(0, 2, CLOSED, CLOSED)
    }),
  },
  {
    fault: 'every charge begins the window anew',
    Counters: afterwards((cells, _, { outcome, now }) => {
      if (outcome === 'admitted') for (const [pair] of cells) pair[0] = now
    }),
  },
  { fault: 'a window lasts 1 ms too long', Counters: lasting((lengthMs) => lengthMs + 1) },
  { fault: 'a window ends 1 ms too early', Counters: lasting((lengthMs) => lengthMs - 1) },
  {
    fault: 'windows of more than 24.8 days end at once, as a timer does',
    Counters: lasting((lengthMs) => (lengthMs < 2 ** 31 ? lengthMs : 1)),
  },
  {
    fault: 'a clock that steps back closes windows',
    Counters: touching((pair, now) => {
      if (Number(pair[0]) > now) pair[1] = CLOSED
    }),
  },
  {
    fault: 'a window in the far future is never moved',
    unseenByHistories: true,
    Counters: class extends MapCounters {
      override view(cells: readonly Cell[], now: number): number[] {
        const latest = Math.max(now, ...cells.flatMap(([[startedAt = 0]]) => startedAt))
        return super.view(cells, Math.max(now, latest - 5_000))
      }

      override decide(request: TakeRequest, now: number): TakeReply {
        const cells = this.counted(request.subject, request.set, request.quotas.layers)
        const starts = cells.map(([[startedAt = 0]]) => startedAt)
        const reply = super.decide(request, now)
        for (const [at, [pair]] of cells.entries()) if (Number(starts[at]) > now + 5_000) pair[0] = Number(starts[at])
        return { ...reply, states: this.view(cells, now) }
      }
    },
  },
  {
    fault: 'a window that is moved to the present forgets what was used',
    Counters: touching((pair, now) => {
      if (Number(pair[0]) - now <= 5_000) return
      reanchor(pair, 0, 0, now)
      pair[1] = 0
    }),
  },
  {
    fault: 'a window is moved onto the very instant',
    unseenByHistories: true,
    Counters: touching((pair, now) => {
      if (Number(pair[0]) - now > 5_000) pair[0] = now
    }),
  },
  {
    fault: 'tokens are counted in 32 bits',
    unseenByHistories: true,
    Counters: afterwards((cells) => {
      for (const [pair] of cells) pair[1] = Number(pair[1]) % 2 ** 32
    }),
  },
  {
    fault: 'what is used grows beyond safe integers',
    unseenByHistories: true,
    Counters: afterwards((cells, { costs }, { outcome }, before) => {
      if (outcome === 'admitted')
        for (const [pair, , , at] of cells) pair[1] = Number(before[2 * at + 1]) + Number(costs[0])
    }),
  },
  {
    fault: 'a refusal shows empty windows',
    Counters: class extends MapCounters {
      override decide(request: TakeRequest, now: number): TakeReply {
        const reply = super.decide(request, now)
        return reply.outcome === 'refused' ? { ...reply, states: reply.states.map(() => 0) } : reply
      }
    },
  },
]

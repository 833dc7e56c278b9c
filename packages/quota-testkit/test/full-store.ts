import { type Clock, QuotaError } from '@scoregw/quota'
import {
  type AsyncCounters,
  type AsyncStore,
  CLOSED,
  GRACE_MS,
  layerKey,
  type ReadRequest,
  type ResetRequest,
  type SettleRequest,
  type StoreSchema,
  type Subject,
  type TakeReply,
  type TakeRequest,
} from '@scoregw/quota/store'
import { manualClock, type RowName, type StoreFactory } from '../src/index.ts'
import { type Cell, MapCounters, mapStore } from './map-store.ts'

/** What a server keeps: rows as text, how long, which settings are in force, and whether it answers. */
class Server {
  readonly clock: Clock
  readonly damaged: Set<string> = new Set()
  readonly keptUntil: Map<string, number> = new Map()
  revision = ''
  isSilent = false

  constructor(clock: Clock) {
    this.clock = clock
  }
}

export type Faults = Readonly<Partial<Record<'revision' | 'damage' | 'expiry' | 'deadline', string>>>

function nameOf({ layer, category, key }: RowName): string {
  return JSON.stringify([layer, category, key])
}

/** Counters on a server that can be damaged, and that forget a row when they have said so. */
function countersOn(server: Server, faults: Faults): typeof MapCounters {
  return class ServedCounters extends MapCounters {
    rows(subject: Subject, category: number, layers: readonly number[]): string[] {
      const { schema } = this.data
      return layers.flatMap((index) => {
        const layer = schema.layers[index]
        const named = schema.categories[category] ?? ''
        return layer ? [nameOf({ layer: layer.name, category: named, key: layerKey(layer, subject) })] : []
      })
    }

    override cells(subject: Subject, category: number, layers: readonly number[]): Cell[] {
      const isDamaged = this.rows(subject, category, layers).some((row) => server.damaged.has(row))
      if (isDamaged) throw new QuotaError('damaged_row' as 'store_error', 'a row cannot be read')
      return super.cells(subject, category, layers)
    }

    override take(request: TakeRequest): TakeReply {
      const { settingsRevision, subject, category, quotas } = request
      if (settingsRevision !== undefined && this.isStale(settingsRevision)) {
        if (faults.revision === 'charges what is stale') super.take(request)
        return { outcome: 'stale', now: server.clock.now(), states: [], settingsRevision: server.revision }
      }
      const reply = super.take(request)
      this.keep(subject, category, quotas.layers)
      return reply
    }

    isStale(revision: string): boolean {
      if (faults.revision === 'takes only higher ones for others') return revision < server.revision
      if (faults.revision === 'takes nothing stored for anything')
        return server.revision !== '' && revision !== server.revision
      if (faults.revision === 'takes nothing known for anything') return revision !== '' && revision !== server.revision
      return revision !== server.revision
    }

    override settle(request: SettleRequest): void {
      super.settle(request)
      this.keep(request.subject, request.category, request.layers)
    }

    override reset(request: ResetRequest): void {
      for (const category of request.categories) {
        const rows = this.rows(request.subject, category, request.layers)
        if (faults.damage !== 'cannot be mended') this.mend(request, category, rows)
      }
      super.reset(request)
      for (const category of request.categories) this.keep(request.subject, category, request.layers)
    }

    mend({ subject, layers }: ResetRequest, category: number, rows: readonly string[]): void {
      for (const [at, row] of rows.entries()) {
        if (!server.damaged.delete(row)) continue
        const start = faults.damage === 'begins at the instant' ? CLOSED : server.clock.now()
        for (const [pair] of super.cells(subject, category, layers.slice(at, at + 1))) pair.splice(0, 2, start, CLOSED)
      }
    }

    /** Remembers for how long the rows have to be kept. */
    keep(subject: Subject, category: number, layers: readonly number[]): void {
      for (const [at, row] of this.rows(subject, category, layers).entries()) {
        const ends = super.cells(subject, category, layers.slice(at, at + 1)).map(([pair, lengthMs]) => {
          return Number(pair[0]) + lengthMs + GRACE_MS
        })
        const before = faults.expiry === 'goes by the last writer' ? 0 : (server.keptUntil.get(row) ?? 0)
        if (faults.expiry === 'stays as it was' && before > 0) continue
        server.keptUntil.set(row, Math.max(before, ...ends))
      }
    }
  }
}

/** Calls that a server answers, or that are rejected when time is up. */
function served(server: Server, counters: MapCounters, deadlineMs: number | undefined): AsyncCounters {
  const call =
    <Request, Reply>(work: (request: Request) => Reply) =>
    (request: Request): Promise<Reply> =>
      new Promise((resolve, reject) => {
        if (server.isSilent) {
          if (deadlineMs !== undefined) setTimeout(reject, deadlineMs, new QuotaError('store_error', 'no answer'))
          return
        }
        Promise.resolve()
          .then(() => work(request))
          .then(resolve, reject)
      })
  return {
    take: call((request: TakeRequest) => counters.take(request)),
    read: call((request: ReadRequest) => counters.read(request)),
    settle: call((request: SettleRequest) => counters.settle(request)),
    reset: call((request: ResetRequest) => counters.reset(request)),
  }
}

/** A harness with every capability that a store on a server can have, each with a fault if one is requested. */
export function fullFactory(faults: Faults = {}): StoreFactory {
  return () => {
    const clock = manualClock()
    const server = new Server(clock)
    const store = mapStore(clock, countersOn(server, faults))
    const whole: AsyncStore = {
      sync: false,
      deadlineMs: 20,
      open(schema: StoreSchema) {
        return served(server, store.open(schema) as MapCounters, faults.deadline === undefined ? 20 : undefined)
      },
    }
    return {
      store: whole,
      capabilities: ['ids', 'clock-steps', 'revisions', 'damage', 'expiry', 'deadline', 'regroup'],
      clock,
      advance: clock.advance,
      stepClock: clock.advance,
      storeRevision(revision) {
        server.revision = revision
      },
      damage(row, change) {
        const before = new TextEncoder().encode(nameOf(row))
        if (Buffer.compare(change(before), before) !== 0) server.damaged.add(nameOf(row))
      },
      keptForMs: (row) => (server.keptUntil.get(nameOf(row)) ?? 0) - clock.now(),
      silence() {
        server.isSilent = true
      },
      stop: () => undefined,
    }
  }
}

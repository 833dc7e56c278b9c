import { type Clock, QuotaError } from '@scoregw/quota'
import { CLOSED, GRACE_MS, layerKey } from '@scoregw/quota/internal'
import type {
  AsyncCounters,
  AsyncStore,
  ReadRequest,
  ResetRequest,
  SettleRequest,
  StoreSchema,
  SubjectKeys,
  TakeReply,
  TakeRequest,
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

function nameOf({ layer, key }: RowName): string {
  return JSON.stringify([layer, key])
}

/** Counters on a server that can be damaged, and that forget a row when they have said so. */
function countersOn(server: Server, faults: Faults): typeof MapCounters {
  return class ServedCounters extends MapCounters {
    /** The rows of some limits, with their limits. */
    rows(subject: SubjectKeys, limits: readonly number[]): Map<string, number[]> {
      const { schema, layout } = this.data
      const rows = new Map<string, number[]>()
      for (const at of limits) {
        const layer = schema.layers[layout.layerOf[at] ?? -1]
        const name = layer ? nameOf({ layer: layer.name, key: layerKey(layer, subject) }) : ''
        rows.set(name, [...(rows.get(name) ?? []), at])
      }
      return rows
    }

    override cells(subject: SubjectKeys, limits: readonly number[]): Cell[] {
      const isDamaged = [...this.rows(subject, limits).keys()].some((row) => server.damaged.has(row))
      if (isDamaged) throw new QuotaError('damaged_row' as 'store_error', 'a row cannot be read')
      return super.cells(subject, limits)
    }

    override take(request: TakeRequest): TakeReply {
      const { settingsRevision } = request
      if (settingsRevision !== undefined && this.isStale(settingsRevision)) {
        if (faults.revision === 'charges what is stale') super.take(request)
        return { outcome: 'stale', now: server.clock.now(), states: [], settingsRevision: server.revision }
      }
      const reply = super.take(request)
      this.keep(request.subject, request.set, request.quotas.layers)
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
      this.keep(request.subject, request.set, request.layers)
    }

    override reset(request: ResetRequest): void {
      if (faults.damage !== 'cannot be mended') this.mend(request)
      super.reset(request)
      this.keepRows(request.subject, request.limits)
    }

    mend({ subject, limits }: ResetRequest): void {
      for (const [row, its] of this.rows(subject, limits)) {
        if (!server.damaged.delete(row)) continue
        const start = faults.damage === 'begins at the instant' ? CLOSED : server.clock.now()
        for (const [pair] of super.cells(subject, its)) pair.splice(0, 2, start, CLOSED)
      }
    }

    keep(subject: SubjectKeys, set: number, layers: readonly number[]): void {
      const counted = this.data.layout.counted[set] ?? []
      this.keepRows(
        subject,
        layers.flatMap((layer) => counted[layer] ?? []),
      )
    }

    /** Remembers for how long the rows have to be kept. */
    keepRows(subject: SubjectKeys, limits: readonly number[]): void {
      for (const [row, its] of this.rows(subject, limits)) {
        const ends = super.cells(subject, its).map(([pair, lengthMs]) => Number(pair[0]) + lengthMs + GRACE_MS)
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
      can: { sets: true },
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
      keptForMs: (row) => Math.max(0, (server.keptUntil.get(nameOf(row)) ?? 0) - clock.now()),
      silence() {
        server.isSilent = true
      },
      stop: () => undefined,
    }
  }
}

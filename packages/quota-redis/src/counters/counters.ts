import type { Clock } from '@scoregw/quota'
import { Instant, type Layout, usedLayers } from '@scoregw/quota/internal'
import type {
  AsyncCounters,
  ReadReply,
  ReadRequest,
  ResetRequest,
  SettleRequest,
  StoreAbilities,
  StoreSchema,
  TakeReply,
  TakeRequest,
} from '@scoregw/quota/store'
import type { Connection } from '../connection/connection.ts'
import { Keys } from '../keys/keys.ts'
import { Calls } from './calls.ts'
import { encodeRefunds, placedIn, type Refund, refundsOfStates, replayRefunds, rowsOf } from './charges.ts'
import { Gathered } from './delivery.ts'
import { Holds } from './holds.ts'
import { LoneCalls } from './lone-calls.ts'
import { HoldIndexes } from './open-holds.ts'
import { AGAIN, called, takeReply } from './operation.ts'
import { RecordChanges } from './record-changes.ts'
import type { CallBasis } from './replay.ts'
import { ListBooks, type PlacedRefund, type Row } from './rows.ts'
import { TakesUnderIds } from './takes-under-ids.ts'

/** What all counters of a store have in common. */
export interface CountersDeps {
  readonly connection: Connection
  /** The beginning of every key. */
  readonly prefix: string
  readonly deadlineMs: number
  readonly testClock: Clock | undefined
}

/**
 * The counters of one policy on one server. Requests under an id go to the records of ids; all others are handled here.
 * Expired holds are refunded once `holds.sweeper` is started.
 */
export class Counters implements AsyncCounters {
  readonly keys: Keys
  readonly changes: RecordChanges
  readonly holds: Holds
  readonly #underIds: TakesUnderIds
  readonly #calls: Calls

  constructor(deps: CountersDeps, schema: StoreSchema) {
    const { connection, prefix, deadlineMs, testClock } = deps
    const keys = new Keys(prefix, schema)
    const books = new ListBooks(keys.layout)
    const basis: CallBasis = { keys, books, instant: new Instant(keys.layout), testNow: () => testClock?.now() }
    const loneCalls = new LoneCalls(basis)
    this.#calls = new Calls({ connection, deadlineMs, gather: () => new Gathered(basis, loneCalls) })
    this.keys = keys
    this.changes = new RecordChanges(keys, books, this.#calls)
    this.holds = new Holds(this.changes, this.#calls, new HoldIndexes(deps))
    this.#underIds = new TakesUnderIds(this.#calls, this.changes, this.holds)
  }

  /** Waits for calls in flight, at most one deadline; later calls fail. The connection stays open. */
  close(): Promise<void> {
    this.holds.sweeper.stop()
    return this.#calls.close()
  }

  take(request: TakeRequest): Promise<TakeReply> {
    const { id } = request
    if (id !== undefined) return this.#underIds.take(request, id)
    return called(this.#calls, {
      repeatable: false,
      encode: (batch) => batch.onlyTake(request),
      alone: (calls, until) => calls.take(request, until),
      read: (replay, answer) => takeReply(replay, answer, request),
      late: (reply) => {
        if (reply.outcome === 'admitted') this.#refundLate(request, reply)
      },
    })
  }

  read(request: ReadRequest): Promise<ReadReply> {
    const { subject } = request
    const layers = usedLayers(this.keys.layout, request)
    return called<ReadReply>(this.#calls, {
      repeatable: true,
      encode: (batch) => {
        const rows = layers.map((layer) => batch.row(layer, subject))
        batch.steps(() => batch.readable(rows))
        return rows
      },
      alone: (calls) => calls.read(request),
      read: (replay, { rows }) => {
        const { now } = replay
        const states = replay.view(rows, request)
        return states === undefined ? { now, states: [], isStale: true } : { now, states }
      },
    })
  }

  async settle(request: SettleRequest): Promise<void> {
    await this.settled(request)
  }

  /** Settles. Resolves to whether the reservation was open and belonged to this nonce. Always true without an id. */
  async settled(request: SettleRequest): Promise<boolean> {
    if (request.id !== undefined) return this.#underIds.settle(request, request.id)
    await this.refund(refundsOfStates(request, this.keys))
    return true
  }

  reset(request: ResetRequest): Promise<void> {
    const layers = usedLayers(this.keys.layout, request)
    let refunds: readonly PlacedRefund[] = []
    // The layers whose rows cannot be read.
    const damaged = new Set<number>()
    return called<void>(this.#calls, {
      repeatable: false,
      encode: (batch) => {
        const rows = layers.map((layer) => batch.row(layer, request.subject))
        refunds = rows.flatMap((row) => closings(row, request.limits, this.keys.layout))
        batch.steps(() => {
          for (const row of rows)
            batch.step(damaged.has(row.layer) ? 'repair' : 'readable', row.place, batch.listOf(row))
          encodeRefunds(batch, refunds)
        })
        return rows
      },
      read: (replay, { status, rows }) => {
        if (status === 'done') return replayRefunds(replay, refunds)
        for (const row of rows) if (replay.isDamaged(row)) damaged.add(row.layer)
        return AGAIN
      },
    })
  }

  #refundLate(request: TakeRequest, { states }: TakeReply): void {
    const { subject, set, quotas, costs } = request
    const all = costs.slice(0, this.keys.schema.units.length)
    const settle = { subject, set, layers: quotas.layers, states, refunds: all, as: 'cancelled' } as const
    // If the refund fails, the tokens stay charged.
    this.refund(refundsOfStates(settle, this.keys), true).catch(() => undefined)
  }

  /** @param anyway whether to send it even while the breaker is open */
  refund(all: readonly Refund[], anyway = false): Promise<void> {
    let refunds: readonly PlacedRefund[] = []
    return called<void>(this.#calls, {
      repeatable: false,
      anyway,
      encode: (batch) => {
        refunds = placedIn(batch, all)
        const rows = rowsOf(refunds)
        batch.steps(() => {
          batch.readable(rows)
          encodeRefunds(batch, refunds)
        })
        return rows
      },
      read: (replay, { status }) => {
        if (status === 'done') replayRefunds(replay, refunds)
      },
    })
  }
}

/** Closes these limits' windows of a row. Slots are released by their holds. */
function closings(row: Row, limits: readonly number[], layout: Layout): PlacedRefund[] {
  const { first, width } = layout.rowAt(row.layer)
  return limits.flatMap((at) => {
    const isHere = at >= first && at < first + width
    const cell = at - first + 1
    return isHere ? [{ row, cell, startedAt: -1, amount: Number.POSITIVE_INFINITY, closes: true }] : []
  })
}

/** What counters on Redis can do. */
export const CAN: StoreAbilities = {
  calendar: true,
  holds: true,
  concurrency: 'all',
  fit: true,
  bucket: true,
  sets: true,
}

/** The counters that a store has opened on one connection, and their end. */
export class OpenedCounters {
  readonly #deps: CountersDeps
  readonly #all: Counters[] = []
  #closing: Promise<void> | undefined

  constructor(deps: CountersDeps) {
    this.#deps = deps
  }

  /** @param isSwept whether expired holds are refunded on a timer */
  open(schema: StoreSchema, isSwept = false): Counters {
    const counters = new Counters(this.#deps, schema)
    if (isSwept) counters.holds.sweeper.start()
    if (this.#closing !== undefined) void counters.close()
    this.#all.push(counters)
    return counters
  }

  /** Waits for calls in flight, at most one deadline, then closes the connection. Later calls reject. */
  close(): Promise<void> {
    this.#closing ??= Promise.all(this.#all.map((counters) => counters.close())).then(() =>
      this.#deps.connection.close(),
    )
    return this.#closing
  }
}

import type { Clock } from '@scoregw/quota'
import { Instant, type Layout, usedLayers } from '@scoregw/quota/internal'
import type {
  ReadReply,
  ReadRequest,
  ResetRequest,
  SettleRequest,
  StoreSchema,
  TakeReply,
  TakeRequest,
} from '@scoregw/quota/store'
import { Calls } from '../calls/calls.ts'
import { HoldIndexes } from '../calls/hold-indexes.ts'
import type { Connection } from '../connection/connection.ts'
import { Keys } from '../keys/keys.ts'
import { Batch, type Operation } from './batch.ts'
import type { Refund } from './charges.ts'
import { Gathered, type GatheredDeps } from './gathered.ts'
import { Holds } from './holds.ts'
import { ListBooks } from './lists.ts'
import { LoneCalls } from './lone-calls.ts'
import { AGAIN, called, takeReply } from './operation.ts'
import { RecordChanges } from './record-changes.ts'
import { encodeReadable, encodeRefunds, placedIn, refundsOfStates, replayRefunds, rowsOf } from './refunds.ts'
import { type CallBasis, Replay } from './replay.ts'
import type { PlacedRefund, Row } from './rows.ts'
import { TakesUnderIds } from './takes-under-ids.ts'

export interface CountersDeps {
  readonly connection: Connection
  /** The beginning of every key. */
  readonly prefix: string
  readonly schema: StoreSchema
  readonly deadlineMs: number
  readonly testClock: Clock | undefined
}

/** What {@link Counters} consist of. */
interface CounterParts {
  readonly keys: Keys
  readonly caller: Calls<Operation>
  readonly changes: RecordChanges
  readonly holds: Holds
}

/** Opens the counters of one policy. Expired holds are refunded once `holds.sweeper` is started. */
export function openCounters(deps: CountersDeps): Counters {
  const { connection, prefix, schema, deadlineMs, testClock } = deps
  const keys = new Keys(prefix, schema)
  const books = new ListBooks(keys.layout)
  const basis: CallBasis = { keys, books, instant: new Instant(keys.layout) }
  const parts: GatheredDeps = {
    newBatch: () => new Batch(basis, testClock?.now()),
    loneCalls: new LoneCalls(keys, books, () => testClock?.now()),
    replay: (reply, rows) => new Replay(reply, rows, basis),
  }
  const caller = new Calls<Operation>({ connection, deadlineMs, newBatch: () => new Gathered(parts) })
  const changes = new RecordChanges(keys, books, caller)
  const holds = new Holds({ keys, changes, calls: caller, indexes: new HoldIndexes(deps) })
  return new Counters({ keys, caller, changes, holds })
}

/**
 * The counters of one policy on one server. Requests under an id go to the records of ids; all others are handled here.
 */
export class Counters {
  readonly keys: Keys
  readonly changes: RecordChanges
  readonly holds: Holds
  readonly underIds: TakesUnderIds
  readonly #caller: Calls<Operation>

  constructor(parts: CounterParts) {
    this.keys = parts.keys
    this.changes = parts.changes
    this.holds = parts.holds
    this.underIds = new TakesUnderIds(parts)
    this.#caller = parts.caller
  }

  /** Waits for calls in flight, at most one deadline; later calls fail. The connection stays open. */
  close(): Promise<void> {
    this.holds.sweeper.stop()
    return this.#caller.close()
  }

  take(request: TakeRequest): Promise<TakeReply> {
    const { id } = request
    if (id !== undefined) return this.underIds.take(request, id)
    return called(this.#caller, {
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
    return called<ReadReply>(this.#caller, {
      repeatable: true,
      encode: (batch) => {
        const rows = layers.map((layer) => batch.row(layer, subject))
        batch.steps(() => encodeReadable(batch, rows))
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

  /** Resolves to whether the reservation was open and belonged to this nonce. Always true without an id. */
  async settle(request: SettleRequest): Promise<boolean> {
    if (request.id !== undefined) return this.underIds.settle(request, request.id)
    await this.refund(refundsOfStates(request, this.keys))
    return true
  }

  reset(request: ResetRequest): Promise<void> {
    const layers = usedLayers(this.keys.layout, request)
    let refunds: readonly PlacedRefund[] = []
    // The layers whose rows cannot be read.
    const damaged = new Set<number>()
    return called<void>(this.#caller, {
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
    return called<void>(
      this.#caller,
      {
        repeatable: false,
        encode: (batch) => {
          refunds = placedIn(batch, all)
          const rows = rowsOf(refunds)
          batch.steps(() => {
            encodeReadable(batch, rows)
            encodeRefunds(batch, refunds)
          })
          return rows
        },
        read: (replay, { status }) => {
          if (status === 'done') replayRefunds(replay, refunds)
        },
      },
      anyway,
    )
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

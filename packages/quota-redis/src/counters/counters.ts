import type { Clock } from '@scoregw/quota'
import {
  Instant,
  type ReadReply,
  type ReadRequest,
  type ResetRequest,
  type SettleRequest,
  type StoreSchema,
  type TakeReply,
  type TakeRequest,
} from '@scoregw/quota/store'
import type { Tick } from '../calls/calls.ts'
import { Calls } from '../calls/calls.ts'
import { readHoldPage } from '../calls/hold-pages.ts'
import type { Connection } from '../connection/connection.ts'
import { Keys } from '../keys/keys.ts'
import { Batch, type Operation } from './batch.ts'
import type { Refund } from './charges.ts'
import { Holds, type ReadHoldPage } from './holds.ts'
import { ListBook } from './lists.ts'
import { AGAIN, called, takeReply } from './operation.ts'
import { RecordChanges } from './record-changes.ts'
import {
  encodeReadable,
  encodeRefunds,
  type PlacedRefund,
  placedIn,
  refundsOfStates,
  replayRefunds,
  rowsOf,
} from './refunds.ts'
import { BATCH_SCRIPT } from './script.ts'
import { TakesUnderIds } from './takes-under-ids.ts'

export interface CountersDeps {
  readonly connection: Connection
  /** The beginning of every key. */
  readonly prefix: string
  readonly schema: StoreSchema
  readonly deadlineMs: number
  readonly testClock: Clock | undefined
  /** Shared with other counters on the same connection, so that their commands go out together. */
  readonly tick: Tick
}

/** Opens the counters of one policy. Expired holds are refunded once `holds.sweeper` is started. */
export function openCounters(deps: CountersDeps): Counters {
  const { connection, prefix, schema, deadlineMs, testClock, tick } = deps
  const keys = new Keys(prefix, schema)
  const book = new ListBook(keys.layout)
  const instant = new Instant(keys.layout)
  const newBatch = (): Batch => new Batch(keys, book, instant, testClock?.now())
  const caller = new Calls<Operation>({ connection, deadlineMs, script: BATCH_SCRIPT, tick, newBatch })
  const changes = new RecordChanges(keys, book, caller)
  const readPage: ReadHoldPage = (index, which, most) => readHoldPage(deps, index, which, most)
  return new Counters(keys, caller, changes, new Holds(keys, changes, caller, readPage, connection))
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

  constructor(keys: Keys, caller: Calls<Operation>, changes: RecordChanges, holds: Holds) {
    this.keys = keys
    this.changes = changes
    this.holds = holds
    this.underIds = new TakesUnderIds(keys, caller, changes, holds)
    this.#caller = caller
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
      read: (replay, status, rows) => takeReply(replay, status, rows, request),
      late: (reply) => {
        if (reply.outcome === 'admitted') this.#refundLate(request, reply)
      },
    })
  }

  read({ subject, categories, layers, periods }: ReadRequest): Promise<ReadReply> {
    return called<ReadReply>(this.#caller, {
      repeatable: true,
      encode: (batch) => {
        const rows = categories.flatMap((category) => layers.map((layer) => batch.row(layer, category, subject)))
        let places: readonly number[] = []
        batch.steps(() => {
          places = encodeReadable(batch, rows)
        })
        return places
      },
      read: (replay, _, rows) => {
        const { now } = replay
        const states = categories.flatMap((__, index) => {
          const state = replay.view(rows.slice(index * layers.length, (index + 1) * layers.length), periods)
          return state === undefined ? [] : [state]
        })
        return states.length < categories.length ? { now, states: [], isStale: true } : { now, states }
      },
    })
  }

  /** Resolves to whether the reservation was open and belonged to this nonce. Always true without an id. */
  async settle(request: SettleRequest): Promise<boolean> {
    if (request.id !== undefined) return this.underIds.settle(request, request.id)
    await this.refund(refundsOfStates(request, this.keys))
    return true
  }

  reset({ subject, categories, layers }: ResetRequest): Promise<void> {
    let rows: readonly number[] = []
    let refunds: readonly PlacedRefund[] = []
    // Which of the rows, in order, cannot be read.
    const damaged = new Set<number>()
    return called<void>(this.#caller, {
      repeatable: false,
      encode: (batch) => {
        rows = categories.flatMap((category) => layers.map((layer) => batch.row(layer, category, subject)))
        refunds = rows.flatMap((row) => closings(row, this.keys.layout.width))
        batch.steps(() => {
          for (const [i, row] of rows.entries()) batch.step(damaged.has(i) ? 'repair' : 'readable', row)
          encodeRefunds(batch, refunds)
        })
        return rows.map((row) => row - 1)
      },
      read: (replay, status) => {
        if (status === 'done') return replayRefunds(replay, refunds)
        for (const [i, row] of rows.entries()) if (replay.isDamaged(row - 1)) damaged.add(i)
        return AGAIN
      },
    })
  }

  #refundLate(request: TakeRequest, { states }: TakeReply): void {
    const { subject, category, quotas, costs } = request
    const all = costs.slice(0, this.keys.schema.units.length)
    const settle = { subject, category, layers: quotas.layers, states, refunds: all, as: 'cancelled' } as const
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
          let rows: readonly number[] = []
          batch.steps(() => {
            rows = encodeReadable(batch, rowsOf(refunds))
            encodeRefunds(batch, refunds)
          })
          return rows
        },
        read: (replay, status) => {
          if (status === 'done') replayRefunds(replay, refunds)
        },
      },
      anyway,
    )
  }
}

/** Closes the windows of a row. Slots are released by their holds. */
function closings(row: number, windows: number): PlacedRefund[] {
  return Array.from({ length: windows }, (_, c) => {
    return { row, cell: c + 1, startedAt: -1, amount: Number.POSITIVE_INFINITY, closes: true }
  })
}

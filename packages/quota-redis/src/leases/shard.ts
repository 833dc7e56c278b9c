import type { Clock } from '@scoregw/quota'
import {
  type EndedHold,
  type ExtendRequest,
  type GrowRequest,
  type HoldRecord,
  type HoldReply,
  Instant,
  type ListHoldsReply,
  type ListHoldsRequest,
  type ReadReply,
  type ReadRequest,
  type ResetRequest,
  type SettleHoldReply,
  type SettleHoldRequest,
  type SettleRequest,
  type StoreSchema,
  type Subject,
  type TakeReply,
  type TakeRequest,
} from '@scoregw/quota/store'
import type { Line } from '../line/line.ts'
import type { Tick } from '../store/calls.ts'
import { Calls } from '../store/calls.ts'
import { lookAtHolds } from '../store/hold-looks.ts'
import { HoldSweeper } from '../store/hold-sweeper.ts'
import { Keys } from '../store/keys.ts'
import { batchScript } from './lua/batch-script.ts'
import type { ScriptOfShape } from './lua/script.ts'
import { LeaseBatch, type LeaseOperation } from './operations/batch.ts'
import { type Grown, GrowOperation, type GrowthTerms, newMark } from './operations/hold-grow.ts'
import type { HoldDesk, NamedRecord } from './operations/hold-operation.ts'
import {
  ExtendOperation,
  ShowOperation,
  SweepOperation,
  UndoHoldOperation,
  type UndoHoldRequest,
  type Undone,
} from './operations/hold-others.ts'
import { SettleHoldOperation } from './operations/hold-settle.ts'
import type { FreedAmounts, SharedCharge } from './operations/hold-shared.ts'
import { type HoldTaken, HoldTakeOperation, type HoldTakeRequest, isHoldTake } from './operations/hold-take.ts'
import type { Waiter } from './operations/operation.ts'
import { readOperation, resetOperation, settleOperation, undoOperation } from './operations/rows-operation.ts'
import { TakeOperation } from './operations/take.ts'

/** Most holds that are listed; the engine's bound of a subject's holds is far below it by default. */
const MOST_LISTED = 10_000

/** What a {@link Shard} works with. */
export interface ShardParts {
  readonly line: Line
  /** The beginning of every key: all are in one slot. */
  readonly prefix: string
  readonly schema: StoreSchema
  readonly deadlineMs: number
  readonly testClock: Clock | undefined
  /** Whether there may be holds in its slot, which have to be ended in time. */
  readonly hasHolds: boolean
  /** Makes the script that carries out batches, by default one that knows no leases. */
  readonly script?: ScriptOfShape | undefined
  /** Shared with other shards, so that what they send goes out together. */
  readonly tick: Tick
  /** Hears what goes back in another slot when a hold ends here. Without: holds have nothing elsewhere. */
  readonly freed?: ((freed: FreedAmounts) => void) | undefined
}

/** The counters of one policy in one slot, and the calls on their way to it. Every decision is one script's. */
export class Shard {
  readonly keys: Keys
  readonly sweeper: HoldSweeper
  readonly #parts: ShardParts
  readonly #calls: Calls<LeaseOperation>
  readonly #desk: HoldDesk = {
    askAgain: (operation) => this.#calls.again(operation),
    freed: (freed) => this.#parts.freed?.(freed),
  }
  readonly #instant: Instant

  constructor(parts: ShardParts) {
    const { line, prefix, schema, deadlineMs, tick } = parts
    this.#parts = parts
    this.keys = new Keys(prefix, schema)
    this.#instant = new Instant(this.keys.layout)
    const script = (parts.script ?? batchScript)({ cells: this.keys.layout.cells, units: schema.units.length })
    const newBatch = () => new LeaseBatch(this.keys, this.#instant, parts.testClock?.now())
    this.#calls = new Calls({ line, deadlineMs, script, tick, newBatch })
    this.sweeper = new HoldSweeper({
      isUsable: () => line.usable,
      look: (most) => lookAtHolds(parts, this.keys.holds, 'ended', most),
      settle: (name) => this.#sweep(name),
    })
    // A manual clock turns no timers.
    if (parts.hasHolds && parts.testClock === undefined) this.sweeper.start()
  }

  take(request: TakeRequest): Promise<TakeReply> {
    if (isHoldTake(request)) return this.takeHold(request)
    return new Promise((resolve, reject) => {
      this.#calls.call(new TakeOperation(request, { resolve, reject }, this.#giveBack))
    })
  }

  /** @param shared what it has in another slot */
  takeHold(request: HoldTakeRequest, shared?: SharedCharge): Promise<HoldTaken> {
    const cancel = ({ subject, category, quotas, id }: HoldTakeRequest): void => {
      const settle = { subject, category, quotas, id, as: 'cancelled', overrun: 'refuse', maxOverrun: [] } as const
      this.#later((waiter) => new SettleHoldOperation(settle, waiter, this.#desk))
    }
    return this.#asked((waiter) => new HoldTakeOperation(request, shared, waiter, this.#desk, cancel))
  }

  /** Makes a hold one that never was, or a growth of it: windows that it opened and nothing else used are closed again. */
  undoHold(request: UndoHoldRequest): Promise<Undone> {
    return this.#asked((waiter) => new UndoHoldOperation(request, waiter, this.#desk))
  }

  extend(request: ExtendRequest): Promise<HoldReply> {
    return this.#asked((waiter) => new ExtendOperation(request, waiter, this.#desk))
  }

  grow(request: GrowRequest, terms: GrowthTerms = { mark: newMark(), shared: undefined }): Promise<Grown> {
    return this.#asked((waiter) => new GrowOperation(request, terms, waiter, this.#desk))
  }

  settleHold(request: SettleHoldRequest): Promise<SettleHoldReply> {
    return this.#asked((waiter) => new SettleHoldOperation(request, waiter, this.#desk))
  }

  /** Open holds of a subject, those of categories that are not known here left out. */
  async list({ subject }: ListHoldsRequest): Promise<ListHoldsReply> {
    return this.#calls.followed(async () => {
      const { now, names } = await lookAtHolds(this.#parts, this.keys.holdsOf(subject), 'open', MOST_LISTED)
      const holds = await Promise.all(names.map((name) => this.#show(name, subject)))
      return { now, holds: holds.filter((hold) => hold !== undefined) }
    })
  }

  read(request: ReadRequest): Promise<ReadReply> {
    return this.#asked((waiter) => readOperation(request, waiter))
  }

  /** Resolves to whether the reservation was this nonce's to settle, and open. */
  settle(request: SettleRequest): Promise<boolean> {
    return this.#asked((waiter) => settleOperation(request, waiter))
  }

  /**
   * Makes an admission one that never was: as cancelled, but windows that it opened and nothing else used are closed again, and
   * its id is forgotten.
   *
   * @param takenAt the time of the reply that admitted it
   */
  undo(request: SettleRequest, takenAt: number): Promise<void> {
    return this.#asked((waiter) => undoOperation(request, takenAt, waiter))
  }

  reset(request: ResetRequest): Promise<void> {
    return this.#asked((waiter) => resetOperation(request, waiter))
  }

  /** Waits for the calls in flight, a deadline at most; later ones fail. The line is left open. */
  close(): Promise<void> {
    this.sweeper.stop()
    return this.#calls.close()
  }

  async #show(name: string, subject: Subject): Promise<HoldRecord | undefined> {
    const record = this.#recordOf(name)
    if (record === undefined || record.category === -1) return undefined
    return new Promise((resolve, reject) => {
      this.#calls.again(new ShowOperation(record, subject, { resolve, reject }, this.#desk))
    })
  }

  async #sweep(name: string): Promise<EndedHold | undefined> {
    const record = this.#recordOf(name)
    if (record === undefined) return undefined
    return this.#asked((waiter) => new SweepOperation(record, waiter, this.#desk))
  }

  #recordOf(name: string): NamedRecord | undefined {
    const record = this.keys.readRecord(name)
    return record?.isOld ? { ...record, name } : undefined
  }

  #asked<T>(operation: (waiter: Waiter<T>) => LeaseOperation): Promise<T> {
    return new Promise((resolve, reject) => this.#calls.call(operation({ resolve, reject })))
  }

  /** An admission whose caller was turned away before it arrived. A refund that fails leaves the tokens charged. */
  readonly #giveBack = (request: SettleRequest): void => {
    this.#later((waiter) => settleOperation(request, waiter))
  }

  #later(operation: (waiter: Waiter<unknown>) => LeaseOperation): void {
    const ignored = () => undefined
    this.#calls.callAnyway(operation({ resolve: ignored, reject: ignored }))
  }
}

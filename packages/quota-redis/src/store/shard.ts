import type { Clock } from '@scoregw/quota'
import {
  notDone,
  type ReadReply,
  type ReadRequest,
  type ResetRequest,
  type SettleRequest,
  type StoreSchema,
  type TakeReply,
  type TakeRequest,
} from '@scoregw/quota/store'
import { storeError } from '../line/errors.ts'
import type { Line } from '../line/line.ts'
import { Batch } from '../operations/batch.ts'
import { decideScript } from '../operations/decide.ts'
import type { Operation } from '../operations/operation.ts'
import { ReadOperation } from '../operations/read.ts'
import { ResetOperation } from '../operations/reset.ts'
import { SettleOperation } from '../operations/settle.ts'
import { TakeOperation } from '../operations/take.ts'
import { UndoOperation } from '../operations/undo.ts'
import { Deadline } from './deadline.ts'
import { Keys } from './keys.ts'
import { Outbox } from './outbox.ts'
import { Sender } from './sender.ts'
import type { Tick } from './tick.ts'

/** Calls that wait for an answer, or whose answer may still come; beyond it new ones fail at once. */
const MAX_UNDER_WAY = 10_000

/** What a {@link Shard} works with. */
export interface ShardParts {
  readonly line: Line
  /** The beginning of every key: all are in one slot. */
  readonly prefix: string
  readonly schema: StoreSchema
  readonly deadlineMs: number
  readonly testClock: Clock | undefined
  /** Shared with other shards, so that what they send goes out together. */
  readonly tick: Tick
}

/** The counters of one policy in one slot, and the calls on their way to it. Every decision is one script's. */
export class Shard {
  readonly keys: Keys
  readonly #parts: ShardParts
  readonly #requests: Outbox
  /** What is given back late; it goes to a server that just answered, whatever the circuit says. */
  readonly #refunds: Outbox
  readonly #sends = new Set<Promise<void>>()
  #underWay = 0
  #closing: Promise<void> | undefined

  constructor(parts: ShardParts) {
    const { line, prefix, schema, deadlineMs, tick } = parts
    this.#parts = parts
    this.keys = new Keys(prefix, schema)
    const script = decideScript(schema.windows.length)
    const sender = new Sender({ line, script, deadlineMs, rebatch: (operations) => this.#batchOf(operations) })
    const newBatch = () => this.#batchOf([])
    const underWay = () => this.#underWay
    this.#requests = new Outbox(tick, newBatch, (batch) => this.#follow(batch, sender.send(batch)), underWay)
    this.#refunds = new Outbox(tick, newBatch, (batch) => this.#follow(batch, sender.sendAnyway(batch)), underWay)
  }

  take(request: TakeRequest): Promise<TakeReply> {
    return new Promise((resolve, reject) => {
      this.#ask(new TakeOperation(request, { resolve, reject }, (settle) => this.#giveBack(settle)))
    })
  }

  read(request: ReadRequest): Promise<ReadReply> {
    return new Promise((resolve, reject) => this.#ask(new ReadOperation(request, { resolve, reject })))
  }

  /** Resolves to whether the reservation was this nonce's to settle, and open. */
  settle(request: SettleRequest): Promise<boolean> {
    return new Promise((resolve, reject) => this.#ask(new SettleOperation(request, { resolve, reject })))
  }

  /**
   * Makes an admission one that never was: as cancelled, but windows that it opened and nobody used are closed again, and
   * its id is forgotten.
   *
   * @param takenAt the time of the reply that admitted it
   */
  undo(request: SettleRequest, takenAt: number): Promise<void> {
    return new Promise((resolve, reject) => this.#ask(new UndoOperation(request, takenAt, { resolve, reject })))
  }

  reset(request: ResetRequest): Promise<void> {
    return new Promise((resolve, reject) => this.#ask(new ResetOperation(request, { resolve, reject })))
  }

  /** Waits for the calls under way, a deadline at most; later ones fail. The line is left open. */
  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    this.#requests.flush()
    const limit = new Deadline(this.#parts.deadlineMs, () => undefined)
    await Promise.race([Promise.all(this.#sends), limit.settled])
    limit.met()
  }

  #ask(operation: Operation): void {
    if (this.#closing !== undefined) {
      operation.fail(notDone(storeError('this Redis store was closed')))
    } else if (this.#underWay >= MAX_UNDER_WAY) {
      operation.fail(notDone(storeError(`${MAX_UNDER_WAY} calls are under way, and no more are taken on`)))
    } else {
      this.#underWay++
      this.#requests.add(operation)
    }
  }

  /** An admission whose caller was turned away before it arrived. A refund that fails leaves the tokens charged. */
  #giveBack(request: SettleRequest): void {
    const ignored = () => undefined
    this.#underWay++
    this.#refunds.add(new SettleOperation(request, { resolve: ignored, reject: ignored }))
  }

  /** @param sending resolves when nothing of the batch is under way, and never rejects */
  #follow(batch: Batch, sending: Promise<void>): void {
    const { length } = batch.operations
    const followed = sending.then(() => {
      this.#underWay -= length
      this.#sends.delete(followed)
    })
    this.#sends.add(followed)
  }

  #batchOf(operations: readonly Operation[]): Batch {
    const batch = new Batch(this.keys, this.#parts.testClock?.now())
    for (const operation of operations) batch.add(operation)
    return batch
  }
}

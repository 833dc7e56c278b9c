import type {
  Clock,
  ReadReply,
  ReadRequest,
  ResetRequest,
  SettleRequest,
  StoreSchema,
  TakeReply,
  TakeRequest,
} from '@scoregw/quota'
import type { OwnClient } from '../client/client-types.ts'
import { Batch } from './batch.ts'
import { Deadline } from './deadline.ts'
import { notDone, storeError } from './errors.ts'
import { Keys } from './keys.ts'
import { addTo, Outbox } from './outbox.ts'
import { Sender } from './sender.ts'
import { ReadStep, ResetStep, SettleStep, type Step, TakeStep, UndoStep } from './steps.ts'
import type { Turn } from './turn.ts'

/** Calls that wait for an answer, or whose answer may still come; beyond it new ones fail at once. */
const MAX_UNDER_WAY = 10_000

/** What a {@link Lane} works with. */
export interface LaneParts {
  readonly connection: OwnClient
  /** The beginning of every key: all are in one slot. */
  readonly prefix: string
  readonly schema: StoreSchema
  readonly deadlineMs: number
  readonly testClock: Clock | undefined
  /** Shared with other lanes, so that what they send goes out together. */
  readonly turn: Turn
}

/** The counters of one slot, and the calls on their way to it. Every decision is one script's. */
export class Lane {
  readonly #parts: LaneParts
  readonly #keys: Keys
  readonly #sender: Sender
  readonly #asked: Outbox
  /** What is given back late; it goes to a server that just answered, whatever the circuit says. */
  readonly #owed: Outbox
  readonly #sends = new Set<Promise<void>>()
  #underWay = 0
  #closing: Promise<void> | undefined

  constructor(parts: LaneParts) {
    this.#parts = parts
    this.#keys = new Keys(parts.prefix, parts.schema)
    this.#sender = new Sender(parts.connection, parts.deadlineMs, (steps) => this.#batchOf(steps))
    const newBatch = () => this.#batchOf([])
    const underWay = () => this.#underWay
    this.#asked = new Outbox(parts.turn, newBatch, (batch) => this.#follow(batch, this.#sender.send(batch)), underWay)
    this.#owed = new Outbox(
      parts.turn,
      newBatch,
      (batch) => this.#follow(batch, this.#sender.sendAnyway(batch)),
      underWay,
    )
  }

  get keys(): Keys {
    return this.#keys
  }

  take(request: TakeRequest): Promise<TakeReply> {
    return new Promise((resolve, reject) => {
      this.#ask(new TakeStep(request, { resolve, reject }, (settle) => this.#giveBack(settle)))
    })
  }

  read(request: ReadRequest): Promise<ReadReply> {
    return new Promise((resolve, reject) => this.#ask(new ReadStep(request, { resolve, reject })))
  }

  /** Resolves to whether the reservation was this nonce's to settle, and open. */
  settle(request: SettleRequest): Promise<boolean> {
    return new Promise((resolve, reject) => this.#ask(new SettleStep(request, { resolve, reject })))
  }

  /**
   * Makes an admission one that never was: as cancelled, but windows that it opened and nobody used are closed again, and
   * its id is forgotten.
   *
   * @param openedAt the time of the reply that admitted it
   */
  undo(request: SettleRequest, openedAt: number): Promise<void> {
    return new Promise((resolve, reject) => this.#ask(new UndoStep(request, openedAt, { resolve, reject })))
  }

  reset(request: ResetRequest): Promise<void> {
    return new Promise((resolve, reject) => this.#ask(new ResetStep(request, { resolve, reject })))
  }

  /** Waits for the calls under way, a deadline at most; later ones fail. The connection is left open. */
  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    this.#asked.flush()
    const limit = new Deadline(this.#parts.deadlineMs, () => undefined)
    await Promise.race([Promise.all(this.#sends), limit.settled])
    limit.met()
  }

  #ask(step: Step): void {
    if (this.#closing !== undefined) {
      step.fail(notDone(storeError('this Redis store was closed')))
    } else if (this.#underWay >= MAX_UNDER_WAY) {
      step.fail(notDone(storeError(`${MAX_UNDER_WAY} calls are under way, and no more are taken on`)))
    } else {
      this.#underWay++
      this.#asked.add(step)
    }
  }

  /** An admission whose caller was turned away before it arrived. A refund that fails leaves the tokens charged. */
  #giveBack(request: SettleRequest): void {
    const ignored = () => undefined
    this.#underWay++
    this.#owed.add(new SettleStep(request, { resolve: ignored, reject: ignored }))
  }

  /** @param sending resolves when nothing of the batch is under way, and never rejects */
  #follow(batch: Batch, sending: Promise<void>): void {
    const { length } = batch.steps
    const followed = sending.then(() => {
      this.#underWay -= length
      this.#sends.delete(followed)
    })
    this.#sends.add(followed)
  }

  #batchOf(steps: readonly Step[]): Batch {
    const { schema, testClock } = this.#parts
    const batch = new Batch(schema, this.#keys, testClock?.now())
    for (const step of steps) addTo(batch, step)
    return batch
  }
}

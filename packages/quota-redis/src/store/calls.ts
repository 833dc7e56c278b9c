import { notDone } from '@scoregw/quota/store'
import { storeError } from '../line/errors.ts'
import type { Line } from '../line/line.ts'
import type { Script } from '../lua/script.ts'
import { Deadline } from './deadline.ts'
import type { AnyBatch, AnyOperation } from './delivery.ts'
import { Outbox } from './outbox.ts'
import { Sender } from './sender.ts'
import type { Tick } from './tick.ts'

/** Calls that wait for an answer, or whose answer may still come; beyond it new ones fail immediately. */
const MOST_IN_FLIGHT = 10_000

export interface CallsParts<O extends AnyOperation> {
  readonly line: Line
  readonly deadlineMs: number
  /** Carries out a batch. */
  readonly script: Script
  /** Shared with other counters, so that what they send goes out together. */
  readonly tick: Tick
  readonly newBatch: () => AnyBatch<O>
}

/** Takes operations to the server that has their keys: those of one tick of the event loop together. */
export class Calls<O extends AnyOperation> {
  readonly #parts: CallsParts<O>
  readonly #requests: Outbox<O, AnyBatch<O>>
  /** They go to a server that just answered, whatever the circuit says. */
  readonly #refunds: Outbox<O, AnyBatch<O>>
  readonly #sends = new Set<Promise<void>>()
  #inFlight = 0
  #closing: Promise<void> | undefined

  constructor(parts: CallsParts<O>) {
    const { line, deadlineMs, script, tick, newBatch } = parts
    this.#parts = parts
    const sender = new Sender<O>({ line, deadlineMs, script, newBatch })
    const outbox = { tick, newBatch, underWay: () => this.#inFlight }
    this.#requests = new Outbox({ ...outbox, send: (batch) => this.#follow(batch, sender.send(batch)) })
    this.#refunds = new Outbox({ ...outbox, send: (batch) => this.#follow(batch, sender.sendAnyway(batch)) })
  }

  get isClosing(): boolean {
    return this.#closing !== undefined
  }

  /** Has an operation carried out with the others of this tick. It is answered, or fails. */
  call(operation: O): void {
    if (this.isClosing) operation.fail(closed())
    else if (this.#inFlight >= MOST_IN_FLIGHT) {
      operation.fail(notDone(storeError(`${MOST_IN_FLIGHT} calls are under way, and no more are taken on`)))
    } else this.again(operation)
  }

  /** The same for a call in flight, which has to be made once more. */
  again(operation: O): void {
    this.#inFlight++
    this.#requests.add(operation)
  }

  /** The same for what goes to a server that just answered, whatever the circuit says. */
  callAnyway(operation: O): void {
    this.#inFlight++
    this.#refunds.add(operation)
  }

  /** Does something that is more than one call; closing waits for it. */
  async followed<T>(work: () => Promise<T>): Promise<T> {
    if (this.isClosing) throw closed()
    this.#inFlight++
    const working = work()
    const settled = working.then(
      () => undefined,
      () => undefined,
    )
    const followed = settled.then(() => {
      this.#inFlight--
      this.#sends.delete(followed)
    })
    this.#sends.add(followed)
    return working
  }

  /** Waits for the calls in flight, a deadline at most; later ones fail. The line is left open. */
  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    const limit = new Deadline(this.#parts.deadlineMs, () => undefined)
    // Calls in flight may have to be made once more, or to give back. Nothing may wait here for a tick to end: with no call
    // to wait for this would go round without one.
    while (this.#inFlight > 0 && !limit.isOver) {
      this.#requests.flush()
      this.#refunds.flush()
      await Promise.race([Promise.all(this.#sends), limit.settled])
    }
    limit.met()
  }

  /** @param sending resolves when nothing of the batch is in flight, and never rejects */
  #follow(batch: AnyBatch<O>, sending: Promise<void>): Promise<void> {
    const { length } = batch.operations
    const followed = sending.then(() => {
      this.#inFlight -= length
      this.#sends.delete(followed)
    })
    this.#sends.add(followed)
    return followed
  }
}

function closed(): Error {
  return notDone(storeError('this Redis store was closed'))
}

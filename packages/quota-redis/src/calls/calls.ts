import { Breaker, Deadline, Deadlines, InFlight, notDone } from '@scoregw/quota/store'
import type { Connection } from '../connection/connection.ts'
import { storeError } from '../connection/errors.ts'
import type { Script } from '../lua/script.ts'
import { type AnyBatch, type AnyOperation, type Batched, Delivery } from './delivery.ts'

export interface CallsDeps<O extends AnyOperation> {
  readonly connection: Connection
  readonly deadlineMs: number
  /** Carries out a batch. */
  readonly script: Script
  /** Shared with other counters, so that what they send goes out together. */
  readonly tick: Tick
  readonly newBatch: () => AnyBatch<O>
}

/**
 * Takes operations to the server that has their keys, those of one tick of the event loop together. A server that gives no
 * answers gets few of them.
 */
export class Calls<O extends AnyOperation> {
  readonly #deps: CallsDeps<O>
  readonly #outbox: Outbox<O, AnyBatch<O>>
  readonly #breaker = new Breaker(() => performance.now())
  /** Why the last call that got no answer got none. */
  #lastError: unknown
  /** What goes out whatever the breaker says. */
  readonly #anyway = new WeakSet<O>()
  readonly #inFlight = new InFlight()
  readonly #deadlines: Deadlines
  #closing: Promise<void> | undefined

  constructor(deps: CallsDeps<O>) {
    const { tick, newBatch } = deps
    this.#deps = deps
    this.#deadlines = new Deadlines(deps.deadlineMs, () => performance.now())
    const inFlight = (): number => this.#inFlight.count
    const send = async (batch: AnyBatch<O>): Promise<void> => {
      const { length } = batch.operations
      await this.#send(batch)
      this.#inFlight.done(length)
    }
    this.#outbox = new Outbox({ tick, newBatch, inFlight, send })
  }

  get isClosing(): boolean {
    return this.#closing !== undefined
  }

  /** Has an operation carried out with the others of this tick. It is answered, or fails. */
  call(operation: O): void {
    const { refusal } = this.#inFlight
    if (this.isClosing) operation.fail(closed())
    else if (refusal !== undefined) operation.fail(notDone(storeError(refusal)))
    else this.again(operation)
  }

  /** The same for a call in flight, which has to be made once more. */
  again(operation: O): void {
    const { connection, newBatch } = this.#deps
    if (connection.sharesNothing) {
      // A call of its own, not counted either: nothing is left to do once it is answered.
      const batch = newBatch()
      batch.add(operation)
      void this.#send(batch)
      return
    }
    this.#inFlight.add()
    this.#outbox.add(operation)
  }

  /** The same for what goes to a server that just answered, whatever the breaker says. */
  callAnyway(operation: O): void {
    this.#anyway.add(operation)
    this.again(operation)
  }

  /** Does something that is more than one call; closing waits for it. */
  async followed<T>(work: () => Promise<T>): Promise<T> {
    if (this.isClosing) throw closed()
    if (this.#deps.connection.sharesNothing) return work()
    this.#inFlight.add()
    return work().finally(() => this.#inFlight.done())
  }

  /** Waits for the calls in flight, a deadline at most; later ones fail. The connection is left open. */
  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    const limit = new Deadline(this.#deps.deadlineMs)
    // Calls in flight may have to be made once more, or to give back. Nothing may wait here for a tick to end: with no call
    // to wait for this would go round without one.
    while (this.#inFlight.count > 0 && !limit.isOver) {
      this.#outbox.flush()
      await Promise.race([this.#inFlight.next(), limit.settled])
    }
    limit.met()
  }

  /**
   * Answers or fails every operation of the batch: within the deadline, which counts from the first connection on. Never
   * rejects; when it resolves, nothing of the batch is in flight.
   */
  async #send(all: AnyBatch<O>): Promise<void> {
    const batch = this.#breaker.admits() ? all : this.#withoutRefused(all)
    if (batch.operations.length === 0) return
    const { connection } = this.#deps
    // With nothing to wait for it is written in this very packet.
    while (connection.opening !== undefined) await connection.opening
    await new Delivery(
      {
        ...this.#deps,
        deadlines: this.#deadlines,
        answered: () => this.#breaker.succeeded(),
        unanswered: (error) => {
          this.#lastError = error
          this.#breaker.failed()
        },
      },
      batch,
    ).run()
  }

  #withoutRefused({ operations }: AnyBatch<O>): AnyBatch<O> {
    const error = notDone(storeError('Redis gave no answers for a while and is not asked now', this.#lastError))
    const batch = this.#deps.newBatch()
    for (const operation of operations) {
      if (this.#anyway.has(operation)) batch.add(operation)
      else operation.fail(error)
    }
    return batch
  }
}

function closed(): Error {
  return notDone(storeError('this Redis store was closed'))
}

// When calls are sent -------------------------------------------------------------------------------------------------

/** Fewest and most operations that one script call is filled up to. */
const FEWEST = 32
const MOST = 256
/**
 * Into how many script calls the operations in flight are divided. The server works on one while the next is put together,
 * and many share what a call costs by itself. Measured.
 */
const DIVIDED_INTO = 2
/**
 * While so many calls wait for their answers, gathered operations wait for one of them. So a server with more to do than
 * it can gets fewer and larger calls. Callers that wait for their answers before they call again seldom get there.
 */
const MOST_CALLS = 2
/** It never waits longer, in milliseconds, whether any of them is answered or not. */
const MOST_HELD_MS = 5

export interface OutboxDeps<Operation, Batch extends Batched<Operation>> {
  readonly tick: Pick<Tick, 'atEnd' | 'after'>
  readonly newBatch: () => Batch
  /** Resolves when nothing of the batch is in flight any more, and never rejects. */
  readonly send: (batch: Batch) => Promise<void>
  /** How many operations wait for their answers now. */
  readonly inFlight: () => number
}

/** Gathers the operations requested in one tick of the event loop, so that they go out together. */
export class Outbox<Operation, Batch extends Batched<Operation>> {
  readonly #deps: OutboxDeps<Operation, Batch>
  #batch: Batch | undefined
  #calls = 0
  /** Set while the batch waits for a call to be answered; ends the wait. */
  #endWait: (() => void) | undefined

  constructor(deps: OutboxDeps<Operation, Batch>) {
    this.#deps = deps
  }

  add(operation: Operation): void {
    if (this.#batch === undefined) {
      this.#batch = this.#deps.newBatch()
      this.#deps.tick.atEnd(() => this.#tickEnds())
    }
    this.#batch.add(operation)
    if (this.#batch.isFull || this.#batch.operations.length >= this.#enough()) this.flush()
  }

  flush(): void {
    this.#endWait?.()
    this.#endWait = undefined
    const batch = this.#batch
    this.#batch = undefined
    if (batch === undefined) return
    this.#calls++
    void this.#deps.send(batch).then(() => this.#answered())
  }

  #enough(): number {
    return Math.min(MOST, Math.max(FEWEST, this.#deps.inFlight() / DIVIDED_INTO))
  }

  #tickEnds(): void {
    if (this.#batch === undefined || this.#endWait !== undefined) return
    if (this.#calls < MOST_CALLS) this.flush()
    else this.#endWait = this.#deps.tick.after(MOST_HELD_MS, () => this.flush())
  }

  #answered(): void {
    this.#calls--
    if (this.#endWait === undefined) return
    this.#endWait()
    this.#endWait = undefined
    // Other answers of this tick bring more that can go along.
    this.#deps.tick.atEnd(() => this.#tickEnds())
  }
}

/** The end of a tick of the event loop, at which everything goes out that was called for in it. */
export class Tick {
  readonly #inOnePacket: (send: () => void) => void
  #sends: (() => void)[] = []

  /** @param inOnePacket does the work given to it, so that what it writes goes out in one packet */
  constructor(inOnePacket: (send: () => void) => void) {
    this.#inOnePacket = inOnePacket
  }

  /** Calls `send`, which must not throw, at the end of this tick. */
  atEnd(send: () => void): void {
    if (this.#sends.length === 0) setImmediate(() => this.#end())
    this.#sends.push(send)
  }

  /** Calls `send`, which must not throw, after so long, unless what it returns is called before. */
  after(ms: number, send: () => void): () => void {
    const timer = setTimeout(() => this.#inOnePacket(send), ms)
    return () => clearTimeout(timer)
  }

  #end(): void {
    const sends = this.#sends
    this.#sends = []
    this.#inOnePacket(() => {
      for (const send of sends) send()
    })
  }
}

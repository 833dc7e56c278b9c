import { Breaker, Deadline, Deadlines, InFlight, notDone } from '@scoregw/quota/store'
import type { Connection } from '../connection/connection.ts'
import { storeError } from '../connection/errors.ts'
import { Delivery, type DeliveryContext, type Gathered, ServerClock } from './delivery.ts'
import type { Caller, Operation } from './operation.ts'

// As they are now: a test may replace them later, and a server goes on.
const { setTimeout, clearTimeout, setImmediate } = globalThis
const steadyMs = performance.now.bind(performance)

export interface CallsDeps {
  readonly connection: Connection
  readonly deadlineMs: number
  readonly gather: () => Gathered
}

/**
 * Sends operations to the server that has their keys, together with others of the same tick. A server that gives no
 * answers gets few of them.
 */
export class Calls implements Caller {
  readonly #deps: CallsDeps
  readonly #delivery: DeliveryContext
  readonly #outbox: Outbox<Operation, Gathered>
  readonly #breaker = new Breaker(steadyMs)
  /** Why the last unanswered call got no answer. */
  #lastError: unknown
  readonly #inFlight = new InFlight()
  #closing: Promise<void> | undefined

  constructor(deps: CallsDeps) {
    const { connection, gather } = deps
    this.#deps = deps
    this.#delivery = {
      ...{ connection, gather, clock: new ServerClock() },
      deadlines: new Deadlines(deps.deadlineMs, steadyMs),
      answered: () => this.#breaker.succeeded(),
      unanswered: (error) => {
        this.#lastError = error
        this.#breaker.failed()
      },
    }
    const inFlight = (): number => this.#inFlight.count
    const done = (operations: number): void => {
      if (operations === 1) this.#inFlight.done()
      // Callers that were answered together ask again in this turn. Until its end they count, so that batches stay large.
      else setImmediate(() => this.#inFlight.done(operations))
    }
    this.#outbox = new Outbox({ tick: TICK, gather, inFlight, send: (batch) => this.#send(batch), done })
  }

  get isClosing(): boolean {
    return this.#closing !== undefined
  }

  /** Carries out an operation together with others of this tick. It is answered, or fails. */
  call(operation: Operation): void {
    const { refusal } = this.#inFlight
    if (operation.anyway) this.again(operation)
    else if (this.isClosing) operation.fail(closed())
    else if (refusal !== undefined) operation.fail(notDone(storeError(refusal)))
    else this.again(operation)
  }

  /** Repeats an operation of a call in flight. */
  again(operation: Operation): void {
    const { connection, gather } = this.#deps
    if (connection.sharesNothing) {
      // A separate call, which isn't counted: nothing is left to do once it is answered.
      const batch = gather()
      batch.add(operation)
      void this.#send(batch)
      return
    }
    this.#inFlight.add()
    this.#outbox.add(operation)
  }

  /** Runs work of more than one call. Closing waits for it. */
  async followed<T>(work: () => Promise<T>): Promise<T> {
    if (this.isClosing) throw closed()
    if (this.#deps.connection.sharesNothing) return work()
    this.#inFlight.add()
    return work().finally(() => this.#inFlight.done())
  }

  /** Waits for calls in flight, at most one deadline; later calls fail. The connection stays open. */
  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    const limit = new Deadline(this.#deps.deadlineMs)
    // Calls in flight may need another call, to retry or to refund. Don't wait for a tick here: without a call to wait
    // for, this loop would never end.
    while (this.#inFlight.count > 0 && !limit.isOver) {
      this.#outbox.flush()
      await Promise.race([this.#inFlight.next(), limit.settled])
    }
    limit.met()
  }

  /**
   * Answers or fails every operation of the batch within the deadline, which starts after the first connection. Never
   * rejects. When it resolves, nothing of the batch is in flight.
   */
  #send(all: Gathered): Promise<void> {
    const batch = this.#breaker.admits() ? all : this.#withoutRefused(all)
    if (batch.operations.length === 0) return Promise.resolve()
    // With nothing to wait for, it is written in this very packet.
    if (this.#deps.connection.opening === undefined) return new Delivery(this.#delivery, batch).run()
    return this.#sendOnceOpen(batch)
  }

  async #sendOnceOpen(batch: Gathered): Promise<void> {
    const { connection } = this.#deps
    while (connection.opening !== undefined) await connection.opening
    await new Delivery(this.#delivery, batch).run()
  }

  #withoutRefused({ operations }: Gathered): Gathered {
    const error = notDone(storeError('Redis gave no answers for a while and is not called now', this.#lastError))
    const batch = this.#deps.gather()
    for (const operation of operations) {
      if (operation.anyway) batch.add(operation)
      else operation.fail(error)
    }
    return batch
  }
}

function closed(): Error {
  return notDone(storeError('this Redis store was closed'))
}

// When calls are sent -------------------------------------------------------------------------------------------------

/** The fewest and most operations in one script call. */
const FEWEST = 32
const MOST = 256
/**
 * How many script calls the operations in flight are divided into. The server works on one while the next is put
 * together, and many operations share the cost of a call. Measured.
 */
const DIVIDED_INTO = 2
/**
 * While so many calls are unanswered, gathered operations wait for one of them. An overloaded server then gets fewer
 * and larger calls. Callers that await each answer seldom reach this.
 */
const MOST_CALLS = 2
/** They never wait longer than this, in milliseconds. */
const MOST_HELD_MS = 5

/** When gathered operations are sent. */
interface Tick {
  /** Calls `send` at the end of this tick of the event loop. */
  atEnd(send: () => void): void
  /** Calls `send` after `ms`, unless the returned function is called before. */
  after(ms: number, send: () => void): () => void
}

const TICK: Tick = {
  atEnd: setImmediate,
  after(ms, send) {
    const timer = setTimeout(send, ms)
    return () => clearTimeout(timer)
  },
}

/** Operations that go out together. */
export interface Batched<Operation> {
  readonly operations: readonly Operation[]
  readonly isFull: boolean
  add(operation: Operation): void
}

interface OutboxDeps<Operation, Batch extends Batched<Operation>> {
  readonly tick: Tick
  readonly gather: () => Batch
  /** Resolves when nothing of the batch is in flight any more. Never rejects. */
  readonly send: (batch: Batch) => Promise<void>
  /** Called for each batch after that. */
  readonly done: (operations: number) => void
  /** How many operations wait for an answer now. */
  readonly inFlight: () => number
}

/** Gathers the operations of one tick of the event loop, so that they go out together. */
export class Outbox<Operation, Batch extends Batched<Operation>> {
  readonly #deps: OutboxDeps<Operation, Batch>
  #batch: Batch | undefined
  #calls = 0
  /** Set while the batch waits for a call; ends the wait. */
  #endWait: (() => void) | undefined

  constructor(deps: OutboxDeps<Operation, Batch>) {
    this.#deps = deps
  }

  add(operation: Operation): void {
    if (this.#batch === undefined) {
      this.#batch = this.#deps.gather()
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
    const { length } = batch.operations
    void this.#deps.send(batch).then(() => this.#answered(length))
  }

  #enough(): number {
    return Math.min(MOST, Math.max(FEWEST, this.#deps.inFlight() / DIVIDED_INTO))
  }

  #tickEnds(): void {
    if (this.#batch === undefined || this.#endWait !== undefined) return
    if (this.#calls < MOST_CALLS) this.flush()
    else this.#endWait = this.#deps.tick.after(MOST_HELD_MS, () => this.flush())
  }

  #answered(operations: number): void {
    this.#deps.done(operations)
    this.#calls--
    if (this.#endWait === undefined) return
    this.#endWait()
    this.#endWait = undefined
    // Other answers of this tick bring more operations that can join.
    this.#deps.tick.atEnd(() => this.#tickEnds())
  }
}

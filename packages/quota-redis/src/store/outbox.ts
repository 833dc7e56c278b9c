import type { Tick } from './tick.ts'

/** Fewest and most operations that one script call is filled up to. */
const FEWEST = 32
const MOST = 256
/**
 * Into how many script calls the operations under way are divided: so many that the server works on one while the next
 * is put together, so few that what a call costs by itself is shared by many. Measured.
 */
const DIVIDED_INTO = 2
/**
 * While so many calls wait for their answers, gathered operations wait for one of them: a server with more to do than
 * it can gets fewer and larger calls, where many small ones would keep it busy with calls. Callers that wait for their
 * answers before they ask again seldom get there.
 */
const MOST_CALLS = 2
/** It never waits longer, in milliseconds, whether any of them is answered or not. */
const MOST_HELD_MS = 5

/** What one script call is to do. */
export interface Gathered<Operation> {
  readonly operations: readonly Operation[]
  readonly isFull: boolean
  add(operation: Operation): void
}

export interface OutboxParts<Operation, Batch extends Gathered<Operation>> {
  readonly tick: Pick<Tick, 'atEnd' | 'after'>
  readonly newBatch: () => Batch
  /** Resolves when nothing of the batch is under way any more, and never rejects. */
  readonly send: (batch: Batch) => Promise<void>
  /** How many operations wait for their answers now. */
  readonly underWay: () => number
}

/** Gathers the operations requested in one tick of the event loop, so that they go out together. */
export class Outbox<Operation, Batch extends Gathered<Operation>> {
  readonly #parts: OutboxParts<Operation, Batch>
  #batch: Batch | undefined
  #calls = 0
  /** Set while the batch waits for a call to be answered; ends the wait. */
  #endWait: (() => void) | undefined

  constructor(parts: OutboxParts<Operation, Batch>) {
    this.#parts = parts
  }

  add(operation: Operation): void {
    if (this.#batch === undefined) {
      this.#batch = this.#parts.newBatch()
      this.#parts.tick.atEnd(() => this.#tickEnds())
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
    void this.#parts.send(batch).then(() => this.#answered())
  }

  #enough(): number {
    return Math.min(MOST, Math.max(FEWEST, this.#parts.underWay() / DIVIDED_INTO))
  }

  #tickEnds(): void {
    if (this.#batch === undefined || this.#endWait !== undefined) return
    if (this.#calls < MOST_CALLS) this.flush()
    else this.#endWait = this.#parts.tick.after(MOST_HELD_MS, () => this.flush())
  }

  #answered(): void {
    this.#calls--
    if (this.#endWait === undefined) return
    this.#endWait()
    this.#endWait = undefined
    // Other answers of this tick bring more that can go along.
    this.#parts.tick.atEnd(() => this.#tickEnds())
  }
}

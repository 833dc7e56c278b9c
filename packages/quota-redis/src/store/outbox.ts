import type { Batch } from '../operations/batch.ts'
import type { Operation } from '../operations/operation.ts'
import type { Tick } from './tick.ts'

/** Fewest and most operations that one script call is filled up to. */
const FEWEST = 32
const MOST = 256
/**
 * Into how many script calls the operations under way are divided: so many that the server works on one while the next
 * is put together, so few that what a call costs by itself is shared by many. Measured; a call held back until one of the
 * others is answered makes both processes slower.
 */
const CALLS_UNDER_WAY = 2

/** Gathers what is asked for in one tick of the event loop, so that it goes out together; nobody waits longer. */
export class Outbox {
  readonly #tick: Tick
  readonly #newBatch: () => Batch
  readonly #send: (batch: Batch) => void
  readonly #underWay: () => number
  #batch: Batch | undefined

  /** @param underWay how many operations wait for their answers now */
  constructor(tick: Tick, newBatch: () => Batch, send: (batch: Batch) => void, underWay: () => number) {
    this.#tick = tick
    this.#newBatch = newBatch
    this.#send = send
    this.#underWay = underWay
  }

  add(operation: Operation): void {
    if (this.#batch === undefined) {
      this.#batch = this.#newBatch()
      this.#tick.atEnd(() => this.flush())
    }
    this.#batch.add(operation)
    if (this.#batch.isFull || this.#batch.operations.length >= this.#enough()) this.flush()
  }

  #enough(): number {
    return Math.min(MOST, Math.max(FEWEST, this.#underWay() / CALLS_UNDER_WAY))
  }

  flush(): void {
    const batch = this.#batch
    this.#batch = undefined
    if (batch !== undefined) this.#send(batch)
  }
}

import type { Batch } from './batch.ts'
import { ReadStep, ResetStep, SettleStep, type Step, TakeStep } from './steps.ts'

/** Gathers what is asked for in one turn of the event loop, so that it goes out together; nobody waits longer. */
export class Outbox {
  readonly #newBatch: () => Batch
  readonly #send: (batch: Batch) => void
  #batch: Batch | undefined

  constructor(newBatch: () => Batch, send: (batch: Batch) => void) {
    this.#newBatch = newBatch
    this.#send = send
  }

  add(step: Step): void {
    if (this.#batch === undefined) {
      this.#batch = this.#newBatch()
      setImmediate(() => this.flush())
    }
    addTo(this.#batch, step)
    if (this.#batch.isFull) this.flush()
  }

  flush(): void {
    const batch = this.#batch
    this.#batch = undefined
    if (batch !== undefined) this.#send(batch)
  }
}

export function addTo(batch: Batch, step: Step): void {
  if (step instanceof TakeStep) batch.take(step)
  else if (step instanceof ReadStep) batch.read(step)
  else if (step instanceof SettleStep) batch.settle(step)
  else if (step instanceof ResetStep) batch.reset(step)
}

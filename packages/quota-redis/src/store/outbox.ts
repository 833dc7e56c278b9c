import type { Batch } from './batch.ts'
import { ReadStep, ResetStep, SettleStep, type Step, TakeStep, UndoStep } from './steps.ts'
import type { Turn } from './turn.ts'

/** Fewest and most operations that one script call is filled up to. */
const FEWEST = 32
const MOST = 256
/**
 * Into how many script calls the operations under way are divided: so many that the server works on one while the next
 * is put together, so few that what a call costs by itself is shared by many.
 */
const CALLS_UNDER_WAY = 3

/** Gathers what is asked for in one turn of the event loop, so that it goes out together; nobody waits longer. */
export class Outbox {
  readonly #turn: Turn
  readonly #newBatch: () => Batch
  readonly #send: (batch: Batch) => void
  readonly #underWay: () => number
  #batch: Batch | undefined

  /** @param underWay how many operations wait for their answers now */
  constructor(turn: Turn, newBatch: () => Batch, send: (batch: Batch) => void, underWay: () => number) {
    this.#turn = turn
    this.#newBatch = newBatch
    this.#send = send
    this.#underWay = underWay
  }

  add(step: Step): void {
    if (this.#batch === undefined) {
      this.#batch = this.#newBatch()
      this.#turn.atEnd(() => this.flush())
    }
    addTo(this.#batch, step)
    if (this.#batch.isFull || this.#batch.steps.length >= this.#enough()) this.flush()
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

export function addTo(batch: Batch, step: Step): void {
  if (step instanceof TakeStep) batch.take(step)
  else if (step instanceof ReadStep) batch.read(step)
  else if (step instanceof SettleStep) batch.settle(step)
  else if (step instanceof UndoStep) batch.undo(step)
  else if (step instanceof ResetStep) batch.reset(step)
}

import { QuotaError } from '@scoregw/quota'
import type { OwnClient } from '../client/client-types.ts'
import type { Batch, ScriptReply } from './batch.ts'
import { Deadline } from './deadline.ts'
import { notDone, storeError, verdictOf } from './errors.ts'
import { callScript } from './script-call.ts'
import type { Step } from './steps.ts'

/** Pause before a call that was not carried out, or carries ids, is made again, in milliseconds. */
const AGAIN_AFTER_MS = 20

/** What deliveries have in common. */
export interface DeliveryContext {
  readonly connection: OwnClient
  readonly deadlineMs: number
  /** Makes a batch of steps that are sent again. */
  readonly rebatch: (steps: readonly Step[]) => Batch
  /** Hears whether the server answered; of each delivery once. */
  readonly answered: () => void
  readonly unanswered: (error: unknown) => void
}

/**
 * One batch on its way, within a deadline. A call that was certainly not carried out is made again while there is time;
 * one that may have been is never made again, but for the steps that carry an id.
 */
export class Delivery {
  readonly #context: DeliveryContext
  readonly #deadline: Deadline
  #batch: Batch
  /** What became of the last attempt. */
  #error: unknown

  constructor(context: DeliveryContext, batch: Batch) {
    this.#context = context
    this.#batch = batch
    this.#deadline = new Deadline(context.deadlineMs, () => {
      context.unanswered(this.#error)
      this.#batch.fail(storeError(`Redis gave no answer within ${context.deadlineMs} ms`, this.#error))
    })
  }

  /** Never rejects. When it resolves, every step is answered or failed and nothing is under way. */
  async run(): Promise<void> {
    while (!(await this.#attempt())) await new Promise((resolve) => setTimeout(resolve, AGAIN_AFTER_MS))
  }

  /** Whether that was the last one. */
  async #attempt(): Promise<boolean> {
    try {
      this.#answered(await callScript(this.#context.connection, this.#batch, this.#deadline))
      return true
    } catch (error) {
      this.#error = error
      return this.#failed(error)
    }
  }

  #answered(reply: ScriptReply): void {
    // A late answer is an answer too: its steps give back what they were admitted for.
    if (this.#deadline.met()) this.#context.answered()
    try {
      this.#batch.answer(reply)
    } catch (error) {
      this.#batch.fail(storeError('Redis gave an answer that cannot be read', error))
    }
  }

  #failed(error: unknown): boolean {
    const verdict = verdictOf(error)
    if (verdict === 'refused') {
      if (this.#deadline.met()) this.#context.answered()
      this.#batch.fail(notDone(error instanceof QuotaError ? error : storeError('Redis refused the work', error)))
      return true
    }
    if (verdict === 'in-doubt') this.#keepRepeatable(error)
    if (this.#batch.steps.length > 0) return this.#deadline.isOver
    if (this.#deadline.met()) this.#context.unanswered(error)
    return true
  }

  /** Fails the steps that may have been carried out and cannot be asked about. */
  #keepRepeatable(cause: unknown): void {
    const error = storeError('the connection to Redis broke before the answer', cause)
    const { steps } = this.#batch
    for (const step of steps) if (!step.repeatable) step.fail(error)
    this.#batch = this.#context.rebatch(steps.filter((step) => step.repeatable))
  }
}

import { Breaker, notDone } from '@scoregw/quota/store'
import { storeError } from '../line/errors.ts'
import { type AnyBatch, type AnyOperation, Delivery, type DeliveryContext } from './delivery.ts'

/** Sends batches, but only a few while the server does not answer. */
export class Sender<O extends AnyOperation> {
  readonly #context: DeliveryContext<O>
  readonly #breaker = new Breaker(() => performance.now())
  /** Why the last call that got no answer got none. */
  #lastError: unknown

  constructor(context: Omit<DeliveryContext<O>, 'answered' | 'unanswered'>) {
    this.#context = {
      ...context,
      answered: () => this.#breaker.succeeded(),
      unanswered: (error) => {
        this.#lastError = error
        this.#breaker.failed()
      },
    }
  }

  /**
   * Answers or fails every operation of the batch: within the deadline, and at once while the circuit is open.
   * @returns a promise that never rejects; when it resolves, nothing of the batch is under way any more
   */
  send(batch: AnyBatch<O>): Promise<void> {
    if (this.#breaker.admits()) return this.sendAnyway(batch)
    batch.fail(notDone(storeError('Redis gave no answers for a while and is not asked now', this.#lastError)))
    return Promise.resolve()
  }

  /** The same, whatever the circuit says. The deadline counts from the first connection on. */
  sendAnyway(batch: AnyBatch<O>): Promise<void> {
    const { opening } = this.#context.line
    if (opening !== undefined) return opening.then(() => this.sendAnyway(batch))
    return new Delivery(this.#context, batch).run()
  }
}

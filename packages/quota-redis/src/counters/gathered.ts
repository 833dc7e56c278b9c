import type { AnyBatch, BatchCall } from '../calls/delivery.ts'
import type { Reply } from '../connection/connection.ts'
import type { Batch, Operation } from './batch.ts'
import type { LoneCall, LoneCalls } from './lone-calls.ts'
import type { BatchReply, Replay } from './replay.ts'
import type { Row } from './rows.ts'
import { BATCH_SCRIPT } from './script.ts'

/** What {@link Gathered} needs. */
export interface GatheredDeps {
  readonly newBatch: () => Batch
  readonly loneCalls: LoneCalls
  readonly replay: (reply: BatchReply, rows: readonly Row[]) => Replay
}

/** The operations of a tick. One without others may go to a script of its own; all else is a batch. */
export class Gathered implements AnyBatch<Operation> {
  readonly operations: Operation[] = []
  readonly #deps: GatheredDeps
  #batch: Batch | undefined
  /** The call in flight, if it is an operation's own. */
  #lone: { readonly operation: Operation; readonly call: LoneCall } | undefined

  constructor(deps: GatheredDeps) {
    this.#deps = deps
  }

  get isFull(): boolean {
    return this.#batch?.isFull === true
  }

  add(operation: Operation): void {
    this.operations.push(operation)
    if (this.#batch !== undefined) this.#batch.add(operation)
    else if (this.operations.length > 1) this.#encoded()
  }

  call(until: number): BatchCall {
    const [operation] = this.operations
    const call = this.#batch === undefined ? operation?.alone(this.#deps.loneCalls, until) : undefined
    this.#lone = operation && call && { operation, call }
    return call ?? { script: BATCH_SCRIPT, args: this.#encoded().args(until) }
  }

  answer(reply: Reply): number | undefined {
    if (this.#lone === undefined) return this.#encoded().answer(reply)
    const { operation, call } = this.#lone
    const text = reply as Buffer
    const replay = text.length > 0 ? this.#deps.replay(text, call.rows) : undefined
    if (replay !== undefined && (!call.isRead || replay.isReadable)) {
      operation.answerAlone(replay, call.rows)
      return replay.now
    }
    // Not carried out: the batch's script has to.
    this.#encoded()
    return undefined
  }

  fail(error: unknown): void {
    for (const operation of this.operations) operation.fail(error)
  }

  #encoded(): Batch {
    if (this.#batch === undefined) {
      this.#batch = this.#deps.newBatch()
      for (const operation of this.operations) this.#batch.add(operation)
    }
    return this.#batch
  }
}

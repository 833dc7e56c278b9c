import type { AnyBatch, BatchCall } from '../calls/delivery.ts'
import type { Reply } from '../connection/connection.ts'
import type { Batch, Operation } from './batch.ts'
import type { LoneCall, LoneCalls } from './lone-calls.ts'
import type { BatchReply, Replay, ReplayedRow } from './replay.ts'
import { BATCH_SCRIPT } from './script.ts'

/** What {@link Gathered} needs. */
export interface GatheredDeps {
  readonly newBatch: () => Batch
  readonly loneCalls: LoneCalls
  readonly replay: (reply: BatchReply, rows: readonly ReplayedRow[]) => Replay
}

/** The operations of a tick. One without others may go to a script of its own; all else is a batch. */
export class Gathered implements AnyBatch<Operation> {
  readonly operations: Operation[] = []
  readonly #deps: GatheredDeps
  #batch: Batch | undefined
  /** The call in flight, if it is an operation's own. */
  #lone: LoneCall | undefined

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
    this.#lone = this.#batch === undefined ? this.operations[0]!.alone(this.#deps.loneCalls, until) : undefined
    return this.#lone ?? { script: BATCH_SCRIPT, args: this.#encoded().args(until) }
  }

  answer(reply: Reply): number | undefined {
    const lone = this.#lone
    if (lone === undefined) {
      return this.#encoded().answer(reply)
    }
    const text = reply as Buffer
    const replay = text.length > 0 ? this.#deps.replay(text, lone.rows) : undefined
    if (replay !== undefined && (!lone.isRead || replay.isReadable)) {
      this.operations[0]!.answerAlone(replay, lone.places)
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

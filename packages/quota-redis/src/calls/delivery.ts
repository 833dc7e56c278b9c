import { Deadline, type Deadlines, errorText, notDone } from '@scoregw/quota/store'
import type { Connection, Reply, Word } from '../connection/connection.ts'
import { isReplyOf, noAnswer, notConnected, refusal, storeError, verdictOf } from '../connection/errors.ts'
import type { Script } from '../lua/script.ts'

/** Pause before a call that was not carried out, or carries ids, is made again, in milliseconds. */
const AGAIN_AFTER_MS = 20

/** One of the operations that go to a server together. */
export interface AnyOperation {
  /** Whether it may be sent again when its outcome is unknown. */
  readonly repeatable: boolean
  fail(error: unknown): void
}

/** Operations that go out together. */
export interface Batched<Operation> {
  readonly operations: readonly Operation[]
  readonly isFull: boolean
  add(operation: Operation): void
}

/** Operations that are carried out by one script call. */
export interface AnyBatch<O extends AnyOperation> extends Batched<O> {
  /** Number of keys, keys and arguments. */
  args(): Word[]
  /** Answers or fails every one. @throws where the reply cannot be read */
  answer(reply: Reply): void
  fail(error: unknown): void
}

/** What deliveries have in common. */
export interface DeliveryContext<O extends AnyOperation> {
  readonly connection: Connection
  readonly deadlines: Deadlines
  /** The script that carries out batches. */
  readonly script: Script
  readonly newBatch: () => AnyBatch<O>
  /** Called when the server answered, or did not; of each delivery once. */
  readonly answered: () => void
  readonly unanswered: (error: unknown) => void
}

/**
 * One batch on its way, within a deadline. A call that was certainly not carried out is made again while there is time;
 * one that may have been is never made again, but for the operations that carry an id.
 */
export class Delivery<O extends AnyOperation> {
  readonly #context: DeliveryContext<O>
  readonly #deadline: Deadline
  #batch: AnyBatch<O>
  /** Whether something was written that may have been carried out. */
  #mayBeDone = false
  /** The outcome of the last attempt. */
  #error: unknown

  constructor(context: DeliveryContext<O>, batch: AnyBatch<O>) {
    this.#context = context
    this.#batch = batch
    const { deadlines, connection } = context
    const over = (): void => {
      const error = noAnswer(deadlines.ms, this.#error ?? (connection.usable ? undefined : notConnected(undefined)))
      context.unanswered(error)
      this.#batch.fail(this.#mayBeDone ? error : notDone(error))
    }
    this.#deadline = connection.sharesNothing ? new Deadline(deadlines.ms, over) : deadlines.begin(over)
  }

  /** Never rejects. When it resolves, every operation is answered or failed and nothing is in flight. */
  async run(): Promise<void> {
    while (!(await this.#attempt())) {
      await new Promise((resolve) => setTimeout(resolve, AGAIN_AFTER_MS))
      // The deadline has reported by now that nothing was done.
      if (this.#deadline.isOver) return
    }
  }

  /** Whether that was the last one. */
  async #attempt(): Promise<boolean> {
    const { connection } = this.#context
    const doubtBefore = this.#mayBeDone
    const onSend = () => {
      this.#mayBeDone = true
    }
    try {
      const call = { script: this.#context.script, args: this.#batch.args(), deadline: this.#deadline, onSend }
      this.#answered(await callScript(connection, call))
      return true
    } catch (error) {
      this.#error = error
      if (verdictOf(error) !== 'in-doubt') this.#mayBeDone = doubtBefore
      return this.#failed(error)
    }
  }

  #answered(reply: Reply): void {
    // A late answer is an answer too: its operations give back what they were admitted for.
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
      const refused = refusal(error, 'Redis')
      this.#batch.fail(this.#mayBeDone ? refused : notDone(refused))
      return true
    }
    if (verdict === 'in-doubt') this.#keepRepeatable(error)
    if (this.#batch.operations.length > 0) return this.#deadline.isOver
    if (this.#deadline.met()) this.#context.unanswered(error)
    return true
  }

  /** Fails the operations that may have been carried out and cannot be asked about. */
  #keepRepeatable(cause: unknown): void {
    const error = storeError(`The connection to Redis broke before the answer: ${errorText(cause)}`, cause)
    const { operations } = this.#batch
    for (const operation of operations) if (!operation.repeatable) operation.fail(error)
    this.#batch = this.#context.newBatch()
    for (const operation of operations) if (operation.repeatable) this.#batch.add(operation)
  }
}

// One call -----------------------------------------------------------------------------------------------------------

/** A script call on its way. */
export interface ScriptCall {
  readonly script: Script
  /** Number of keys, keys and arguments. */
  readonly args: readonly Word[]
  readonly deadline: Deadline
  /** Called just before it is written, each time. */
  readonly onSend: () => void
}

/** Has the server carry out a script, once. Nothing is sent after the deadline. */
export function callScript(connection: Connection, call: ScriptCall): Promise<Reply> {
  if (!connection.usable) return callOnceUsable(connection, call)
  return evaluate(connection, call).catch((error: unknown) => callRedirected(connection, call, error))
}

async function callOnceUsable(connection: Connection, call: ScriptCall): Promise<Reply> {
  await Promise.race([connection.ready(), call.deadline.settled])
  if (call.deadline.isOver) throw storeError('not connected to Redis')
  return evaluate(connection, call).catch((error: unknown) => callRedirected(connection, call, error))
}

/** Calls the server that an error reply says to ask. */
async function callRedirected(connection: Connection, call: ScriptCall, error: unknown): Promise<Reply> {
  const { deadline } = call
  const other = await Promise.race([connection.redirected(error)?.catch(() => undefined), deadline.settled])
  if (other === undefined || deadline.isOver) throw error
  return evaluate(other, call)
}

/** Scripts that a server has answered to on its connection. */
const KNOWN = new WeakMap<Connection, Set<string>>()

/** The first call on a connection brings the script's text: without it a cold start would take another round trip. */
async function evaluate(connection: Connection, { script, args, deadline, onSend }: ScriptCall): Promise<Reply> {
  onSend()
  if (connection.evaluate !== undefined) return connection.evaluate(script, args, deadline)
  const known = KNOWN.get(connection.server) ?? new Set()
  KNOWN.set(connection.server, known)
  const [command, what] = known.has(script.sha) ? ['EVALSHA', script.sha] : ['EVAL', script.text]
  try {
    const reply = await connection.send(command!, what!, ...args)
    known.add(script.sha)
    return reply
  } catch (error) {
    if (!isReplyOf(error, 'NOSCRIPT') || deadline.isOver) throw error
    return await connection.send('EVAL', script.text, ...args)
  }
}

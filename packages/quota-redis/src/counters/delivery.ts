import { errorText } from '@scoregw/quota/internal'
import { Deadline, type Deadlines, notDone } from '@scoregw/quota/store'
import type { Connection, Reply, Word } from '../connection/connection.ts'
import { isReplyOf, noAnswer, notConnected, refusal, storeError, verdictOf } from '../connection/errors.ts'
import type { Script } from '../lua/script.ts'
import { Batch } from './batch.ts'
import type { LoneCall, LoneCalls } from './lone-calls.ts'
import type { Operation } from './operation.ts'
import { type BatchReply, type CallBasis, Replay } from './replay.ts'
import { BATCH_SCRIPT } from './script.ts'

// As they are now: a test may replace them later, and a server goes on.
const { setTimeout } = globalThis
const steadyMs = performance.now.bind(performance)

/** The pause before a call is repeated that was not carried out, or that carries ids, in milliseconds. */
const AGAIN_AFTER_MS = 20

/** A call of a script: the number of keys, the keys and the arguments. */
type BatchCall = Pick<LoneCall, 'script' | 'args'>

/** Operations that go out together. One without others may go to a script of its own; all else is a batch. */
export class Gathered {
  readonly operations: Operation[] = []
  readonly #basis: CallBasis
  readonly #loneCalls: LoneCalls
  #batch: Batch | undefined
  /** The call in flight, if it is an operation's own. */
  #lone: { readonly operation: Operation; readonly call: LoneCall } | undefined

  constructor(basis: CallBasis, loneCalls: LoneCalls) {
    this.#basis = basis
    this.#loneCalls = loneCalls
  }

  get isFull(): boolean {
    return this.#batch?.isFull === true
  }

  add(operation: Operation): void {
    this.operations.push(operation)
    if (this.#batch !== undefined) operation.encode(this.#batch)
    else if (this.operations.length > 1) this.#encoded()
  }

  /** @param until the server's time from which on it isn't carried out: the server then replies with its time */
  call(until: number): BatchCall {
    const [operation] = this.operations
    const call = this.#batch === undefined ? operation?.alone(this.#loneCalls, until) : undefined
    this.#lone = operation && call && { operation, call }
    return call ?? { script: BATCH_SCRIPT, args: this.#encoded().args(until) }
  }

  /**
   * Answers or fails each operation.
   *
   * @returns the server's time; `undefined` if nothing was carried out, and {@link call} now returns another call
   * @throws if the reply cannot be read
   */
  answer(reply: Reply): number | undefined {
    if (this.#lone === undefined) {
      const replay = this.#encoded().replayOf(reply as BatchReply)
      for (const [place, operation] of this.operations.entries()) operation.answer(replay, place)
      return replay.now
    }
    const { operation, call } = this.#lone
    const text = reply as Buffer
    const replay = text.length > 0 ? new Replay(text, call.rows, this.#basis) : undefined
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
      this.#batch = new Batch(this.#basis)
      for (const operation of this.operations) operation.encode(this.#batch)
    }
    return this.#batch
  }
}

/** Shared by all deliveries. */
export interface DeliveryContext {
  readonly connection: Connection
  readonly deadlines: Deadlines
  readonly clock: ServerClock
  readonly gather: () => Gathered
  /** Called once per delivery if the server answered; the other if it did not. */
  readonly answered: () => void
  readonly unanswered: (error: unknown) => void
}

/**
 * The delivery of one batch within a deadline. A call that was certainly not carried out is repeated while there is
 * time. A call that may have been carried out is repeated only for operations with an id.
 */
export class Delivery {
  readonly #context: DeliveryContext
  readonly #deadline: Deadline
  /** By the monotonic clock. */
  readonly #endsAtMs: number
  #batch: Gathered
  /** Whether something was written that may have been carried out. */
  #mayBeDone = false
  /** The outcome of the last attempt. */
  #error: unknown
  readonly #onSend = (): void => {
    this.#mayBeDone = true
  }

  constructor(context: DeliveryContext, batch: Gathered) {
    this.#context = context
    this.#batch = batch
    const { deadlines, connection } = context
    const over = (): void => {
      const error = noAnswer(deadlines.ms, this.#error ?? (connection.usable ? undefined : notConnected(undefined)))
      context.unanswered(error)
      this.#batch.fail(this.#mayBeDone ? error : notDone(error))
    }
    this.#endsAtMs = steadyMs() + deadlines.ms
    this.#deadline = connection.sharesNothing ? new Deadline(deadlines.ms, over) : deadlines.begin(over)
  }

  /** Never rejects. When it resolves, every operation is answered or failed, and nothing is in flight. */
  async run(): Promise<void> {
    const { connection, clock } = this.#context
    for (;;) {
      const doubtBefore = this.#mayBeDone
      try {
        const { script, args } = this.#batch.call(clock.at(this.#endsAtMs))
        const call = { script, args, deadline: this.#deadline, onSend: this.#onSend }
        let reply: Reply
        try {
          if (!connection.usable) await connected(connection, this.#deadline)
          reply = await evaluate(connection, call)
        } catch (error) {
          reply = await repaired(connection, call, error)
        }
        if (this.#answered(reply)) return
        // Certainly nothing was carried out: it is called in another way, or with a better estimate of the server's clock.
        this.#mayBeDone = doubtBefore
      } catch (error) {
        if (this.#failed(error, doubtBefore)) return
        await new Promise((resolve) => setTimeout(resolve, AGAIN_AFTER_MS))
      }
      // The deadline has already reported that nothing was done.
      if (this.#deadline.isOver) return
    }
  }

  /** @returns whether the batch was carried out */
  #answered(reply: Reply): boolean {
    try {
      // A late answer still counts: its operations refund what they were admitted for.
      const now = typeof reply === 'number' ? reply : this.#batch.answer(reply)
      // While all answers are late, an estimate by them would stop the refunds, too.
      if (now !== undefined && !this.#deadline.isOver) this.#context.clock.note(now, steadyMs())
      if (now === undefined || typeof reply === 'number') return false
    } catch (error) {
      this.#batch.fail(storeError('Redis sent a reply that cannot be read', error))
    }
    if (this.#deadline.met()) this.#context.answered()
    return true
  }

  /** @returns whether that was the last attempt */
  #failed(error: unknown, doubtBefore: boolean): boolean {
    const verdict = verdictOf(error)
    this.#error = error
    if (verdict !== 'in-doubt') this.#mayBeDone = doubtBefore
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

  /** Fails the operations that may have been carried out and cannot be repeated. */
  #keepRepeatable(cause: unknown): void {
    const error = storeError(`The connection to Redis broke before the answer: ${errorText(cause)}`, cause)
    const { operations } = this.#batch
    for (const operation of operations) if (!operation.repeatable) operation.fail(error)
    this.#batch = this.#context.gather()
    for (const operation of operations) if (operation.repeatable) this.#batch.add(operation)
  }
}

// One call -----------------------------------------------------------------------------------------------------------

/** A script call in flight. Nothing is sent after its deadline. */
interface ScriptCall {
  readonly script: Script
  /** The number of keys, the keys and the arguments. */
  readonly args: readonly Word[]
  readonly deadline: Deadline
  /** Called just before each write. */
  readonly onSend: () => void
}

async function connected(connection: Connection, deadline: Deadline): Promise<void> {
  await Promise.race([connection.ready(), deadline.settled])
  if (deadline.isOver) throw storeError('not connected to Redis')
}

/** Calls the server that a redirection names, or sends the script's text. Other errors are thrown again. */
async function repaired(connection: Connection, call: ScriptCall, error: unknown): Promise<Reply> {
  const { deadline } = call
  const other = await Promise.race([connection.redirected?.(error)?.catch(() => undefined), deadline.settled])
  if (deadline.isOver) throw error
  if (other === undefined) return load(connection, call, error)
  return evaluate(other, call).catch((again: unknown) => load(other, call, again))
}

/** Scripts that a server has answered on its connection. */
const LOADED = new WeakMap<Connection, Set<string>>()

/** The first call on a connection sends the script's text. Otherwise a cold start would take another round trip. */
function evaluate(connection: Connection, call: ScriptCall): Promise<Reply> {
  const { script, args, deadline, onSend } = call
  onSend()
  if (connection.evaluate !== undefined) return connection.evaluate(script, args, deadline)
  if (LOADED.get(connection.server)?.has(script.sha)) return connection.send('EVALSHA', script.sha, ...args)
  return load(connection, call)
}

/** Sends the script's text. @param error of a call without it. If that is not the reason, it is thrown again */
async function load(connection: Connection, { script, args, deadline }: ScriptCall, error?: unknown): Promise<Reply> {
  if (error !== undefined && (!isReplyOf(error, 'NOSCRIPT') || deadline.isOver)) throw error
  const { server } = connection
  const reply = await connection.send('EVAL', script.text, ...args)
  const known = LOADED.get(server) ?? new Set()
  LOADED.set(server, known.add(script.sha))
  return reply
}

// The server's clock -------------------------------------------------------------------------------------------------

/** How long the best estimate is used, in milliseconds. After that, the newest one is. */
const RECENT_MS = 1_000

/**
 * An estimate of a server's clock that is never ahead of it: an answer contains the server's time, and arrives later.
 * The least delayed answer of the last second gives the best estimate.
 */
export class ServerClock {
  #aheadMs: number | undefined
  #notedAtMs = 0

  /**
   * @param serverMs the server's time in an answer, epoch milliseconds
   * @param nowMs this process's monotonic clock
   */
  note(serverMs: number, nowMs: number): void {
    const aheadMs = serverMs - nowMs
    if (this.#aheadMs !== undefined && aheadMs <= this.#aheadMs && nowMs - this.#notedAtMs < RECENT_MS) return
    this.#aheadMs = aheadMs
    this.#notedAtMs = nowMs
  }

  /** The server's time at an instant of the monotonic clock; `Infinity` before the first answer. */
  at(ms: number): number {
    return this.#aheadMs === undefined ? Number.POSITIVE_INFINITY : ms + this.#aheadMs
  }
}

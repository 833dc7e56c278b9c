import type { Clock } from '@scoregw/quota'
import { Breaker, Instant, notDone } from '@scoregw/quota/store'
import { isReplyOf, refusal, storeError, verdictOf } from '../line/errors.ts'
import type { Line, Reply, Word } from '../line/line.ts'
import type { Script } from '../lua/script.ts'
import { Deadline } from '../store/deadline.ts'
import type { Keys } from '../store/keys.ts'
import type { UnitAmounts } from './amounts.ts'
import { type Lease, MAX_LEASE_MS, type Moment, momentBy } from './lease.ts'
import { LeaseBatch } from './operations/batch.ts'
import type { Waiter } from './operations/operation.ts'
import type { LeaseBatchReply } from './operations/replay.ts'
import {
  type Granted,
  GrantOperation,
  type GrantRequest,
  leaseScript,
  ReturnOperation,
  type SharedRowsAt,
} from './shared-operations.ts'

/** A return is sent when the lease ends: every grant reads and writes all that are remembered, spent ones as well. */
const TIMES = { rememberedMs: 5_000, countedMs: 5_000, usableMs: MAX_LEASE_MS }
/** Pause before a call that was not carried out is made again, in milliseconds. */
const AGAIN_AFTER_MS = 20

/** The result of a grant, and the state of its call. */
export interface GrantReply extends Granted {
  readonly sentAt: Moment
  /** Whether every replica has it. */
  readonly isReplicated: boolean
}

export interface SharedCallsParts {
  /** Of its own: `WAIT` holds up what comes behind it. */
  readonly line: Line
  /** How many replicas could take the place of the shared layers' server. */
  readonly replicas: (server: Line) => Promise<number>
  readonly keys: Keys
  readonly deadlineMs: number
  readonly testClock: Clock | undefined
  /** A unique id of this process. */
  readonly process: string
}

/** Asks the shared layers' server for tokens, and gives tokens back. */
export class SharedCalls {
  readonly #parts: SharedCallsParts
  readonly #breaker = new Breaker(() => performance.now())
  readonly #instant: Instant

  constructor(parts: SharedCallsParts) {
    this.#parts = parts
    this.#instant = new Instant(parts.keys.layout)
  }

  /**
   * Sent until it is carried out or its outcome is unknown; within the deadline.
   *
   * @param late gets a reply that comes after the deadline
   * @throws {QuotaError} `store_error`, `damaged_row`
   */
  async grant(at: SharedRowsAt, request: GrantRequest, late: (reply: GrantReply) => void): Promise<GrantReply> {
    if (!this.#breaker.admits())
      throw notDone(storeError('the shared layers gave no answers for a while and are not called now'))
    const { testClock, deadlineMs, process } = this.#parts
    const work = async (server: Line): Promise<GrantReply> => {
      const replicas = await this.#parts.replicas(server)
      const sentAt = momentBy(testClock)
      const batch = this.#batch()
      const granted = answerOf<Granted>((waiter) => batch.add(new GrantOperation(at, request, process, TIMES, waiter)))
      const [raw, acknowledged] = await waited(server, this.#script(), batch.args(), replicas, deadlineMs)
      batch.answer(raw as unknown as LeaseBatchReply)
      return { ...(await granted), sentAt, isReplicated: acknowledged >= replicas }
    }
    return this.#within(work, late)
  }

  /**
   * Sent once, whatever becomes of it.
   * @returns what was credited
   * @throws {QuotaError} `store_error`
   */
  async giveBack(at: SharedRowsAt, lease: Lease['terms'], amounts: UnitAmounts): Promise<UnitAmounts> {
    const { line } = this.#parts
    await line.ready()
    const batch = this.#batch()
    // What goes back goes by starts, whatever periods there are by now.
    const returned = answerOf<UnitAmounts>((waiter) => batch.add(new ReturnOperation(at, lease, amounts, waiter)))
    const [raw] = await waited(line.server, this.#script(), batch.args(), 0, 0)
    batch.answer(raw as unknown as LeaseBatchReply)
    return returned
  }

  #batch(): LeaseBatch {
    const { keys, testClock } = this.#parts
    return new LeaseBatch(keys, this.#instant, testClock?.now())
  }

  #script(): Script {
    const { layout, schema } = this.#parts.keys
    return leaseScript({ cells: layout.cells, units: schema.units.length })
  }

  async #within<T>(work: (server: Line) => Promise<T>, late: (answer: T) => void): Promise<T> {
    const { line, deadlineMs } = this.#parts
    const deadline = new Deadline(deadlineMs, () => undefined)
    const answered = this.#tries(work, deadline)
    answered.then(
      (answer) => {
        if (deadline.isOver) late(answer)
      },
      () => undefined,
    )
    try {
      const answer = await Promise.race([answered, deadline.settled.then(() => undefined)])
      if (answer === undefined) throw storeError(`the shared layers gave no answer within ${deadlineMs} ms`)
      this.#breaker.succeeded()
      return answer
    } catch (error) {
      if (verdictOf(error) === 'refused') this.#breaker.succeeded()
      else this.#breaker.failed()
      throw line.usable ? error : storeError('the shared layers cannot be reached', error)
    } finally {
      deadline.met()
    }
  }

  async #tries<T>(work: (server: Line) => Promise<T>, deadline: Deadline): Promise<T> {
    const { line } = this.#parts
    for (;;) {
      try {
        await line.ready()
        return await work(line.server)
      } catch (error) {
        const verdict = verdictOf(error)
        if (verdict === 'refused') throw notDone(refusal(error, 'the shared layers'))
        if (verdict === 'in-doubt')
          throw storeError('the connection to the shared layers broke before the answer', error)
        if (deadline.isOver) throw error
      }
      await new Promise((resolve) => setTimeout(resolve, AGAIN_AFTER_MS))
      if (deadline.isOver) throw storeError('the shared layers gave no answer in time')
    }
  }
}

/** A script's reply, and how many replicas have what it wrote. Both go out together, so that nothing comes between. */
async function waited(
  server: Line,
  { sha, text }: Script,
  args: readonly Word[],
  replicas: number,
  timeoutMs: number,
): Promise<readonly [Reply, number]> {
  const call = async (command: 'EVALSHA' | 'EVAL', what: string): Promise<readonly [Reply, number]> => {
    const answer = server.send(command, what, ...args)
    if (replicas === 0) return [await answer, 0]
    const acknowledged = server.send('WAIT', replicas, timeoutMs)
    acknowledged.catch(() => undefined)
    return [await answer, (await acknowledged) as number]
  }
  try {
    return await call('EVALSHA', sha)
  } catch (error) {
    if (!isReplyOf(error, 'NOSCRIPT')) throw error
    return await call('EVAL', text)
  }
}

/** The reply of an operation that may be answered before it is awaited. */
function answerOf<T>(add: (waiter: Waiter<T>) => void): Promise<T> {
  const answer = new Promise<T>((resolve, reject) => add({ resolve, reject }))
  answer.catch(() => undefined)
  return answer
}

import { doorOf, type Quota } from '../engine/quota.ts'
import type { HeldReservation } from '../engine/requests.ts'
import { checkWork, worked } from '../engine/reservations/handle.ts'
import { QuotaError } from '../errors/quota-error.ts'
import type { Counting, OneUnit } from '../policy/units.ts'
import { Lanes } from './lanes.ts'
import {
  parseQueueOptions,
  type WaitedReservation,
  type WaitedRun,
  type WaitingQueueOptions,
  type WaitRequest,
} from './options.ts'

/** Requests wait here for their limits. */
export interface WaitingQueue<Operation extends string = string, C extends Counting = OneUnit> {
  /** The number of waiting requests. */
  readonly size: number

  /**
   * Reserves as soon as the limits allow it and no earlier request waits for the same limit. If `signal` aborts, the
   * request leaves the queue.
   *
   * @throws {QuotaError} what `quota.reserve` throws; `invalid_wait`; `quota_closed`
   */
  reserve(request: WaitRequest<Operation, C>): Promise<WaitedReservation<C>>

  /** Waits, runs the work, and settles by the outcome, like `quota.run`. */
  run<T>(
    request: WaitRequest<Operation, C>,
    work: (reservation: HeldReservation<C>) => T | PromiseLike<T>,
  ): Promise<WaitedRun<T, C>>

  /** Rejects all waiting requests with `quota_closed`. The engine stays open. */
  close(): void
}

/**
 * Makes a queue for an engine, so that requests wait for their limits instead of being refused. An engine has one queue
 * at a time, and `quota.close()` closes it.
 *
 * @throws {QuotaError} `invalid_options` naming every fault; `queue_exists`
 * @example
 * const queue = waitingQueue(quota, { maxWaiting: 10_000, maxWaitMs: 30_000 })
 * await queue.run({ subject: 'openai', operation: 'chat' }, () => callModel())
 */
export function waitingQueue<Operation extends string, C extends Counting>(
  quota: Quota<Operation, C>,
  options: WaitingQueueOptions = {},
): WaitingQueue<Operation, C> {
  const door = doorOf(quota)
  if (door === undefined) {
    throw new QuotaError('invalid_options', 'waitingQueue(): expected an engine, for example from createQuota()')
  }
  const parsed = parseQueueOptions(options)
  if ((quota as QueueHolder)[QUEUE] !== undefined) {
    throw new QuotaError('queue_exists', 'waitingQueue(): this engine has a queue; use that one, or close it first')
  }
  const lanes = new Lanes(quota as unknown as Quota, door, parsed, () => void Reflect.deleteProperty(quota, QUEUE))
  const queue = queueOver(lanes)
  Object.defineProperty(quota, QUEUE, { value: queue, configurable: true })
  return queue as unknown as WaitingQueue<Operation, C>
}

/** The property of an engine that holds its open queue. All builds and copies of the package share the symbol. */
const QUEUE: unique symbol = Symbol.for('@scoregw/quota/queue') as never

interface QueueHolder {
  readonly [QUEUE]?: WaitingQueue<string, Counting>
}

/** Returns the queue of an engine. Makes one with the default options if necessary. */
export function queueOf(quota: Quota): WaitingQueue<string, Counting> {
  return (quota as QueueHolder)[QUEUE] ?? waitingQueue(quota)
}

function queueOver(lanes: Lanes): WaitingQueue<string, Counting> {
  return {
    get size() {
      return lanes.size
    },
    reserve: (request) => lanes.enter(request),
    async run(request, work) {
      checkWork(request, work)
      const reservation = await lanes.enter(request)
      if (reservation.status === 'reserved' && request.signal?.aborted) {
        await reservation.cancel()
        throw request.signal.reason
      }
      if (reservation.status === 'reserved') return worked(reservation, work)
      if (reservation.status !== 'refused') return { allowed: false, status: reservation.status }
      const { reason, decision, retryAfterMs } = reservation
      return { status: 'refused', allowed: false, reason, decision, retryAfterMs }
    },
    close: () => lanes.close(),
  }
}

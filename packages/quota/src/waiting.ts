/**
 * Queues for engines: requests wait for their limits instead of being refused.
 *
 * @module
 */
export type {
  WaitedReservation,
  WaitedRun,
  WaitingQueueOptions,
  WaitRefused,
  WaitRequest,
  Waits,
} from './waiting/options.ts'
export { type WaitingQueue, waitingQueue } from './waiting/waiting-queue.ts'

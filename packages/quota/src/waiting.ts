/**
 * Queues for engines: requests wait for their limits instead of being refused.
 *
 * @module
 */
export type { WaitingQueueOptions, Waits } from './waiting/options.ts'
export type { WaitedReservation, WaitedRun, WaitRefused, WaitRequest } from './waiting/requests.ts'
export { type WaitingQueue, waitingQueue } from './waiting/waiting-queue.ts'

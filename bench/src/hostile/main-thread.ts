import { readFileSync } from 'node:fs'

/** The longest block of the event loop since the last call, in milliseconds, and the peak of memory. */
export interface LongestBlock {
  /** By the clock, which includes the time of other processes. */
  readonly wallMs: number
  /** By the main thread's processor time. */
  readonly cpuMs: number
  /** Peak of the resident set. */
  readonly peakBytes: number
}

/** How long a process's main thread has run according to the kernel, in milliseconds. */
export function mainThreadMs(pid: number): number {
  return Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ', 1)[0]) / 1e6
}

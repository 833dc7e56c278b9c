import { readFileSync } from 'node:fs'

/** How long the event loop was held at most since the last call, in milliseconds; the most memory so far. */
export interface Held {
  /** As the clock has it: on a machine that has other work, that is in it. */
  readonly wallMs: number
  /** Of the main thread's processor time. */
  readonly cpuMs: number
  /** Peak of the resident set. */
  readonly peakBytes: number
}

/** What the kernel says that a process' main thread has run, in milliseconds. */
export function mainThreadMs(pid: number): number {
  return Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ', 1)[0]) / 1e6
}

// Loaded into the gateway's process beside it: answers its parent how long its event loop was held, and its memory.
import { readFileSync } from 'node:fs'

/** How long the event loop was held at most since this was asked last, in milliseconds; the most memory so far. */
export interface Held {
  /** As the clock has it: on a machine that has other work, that is in it. */
  readonly wallMs: number
  /** Of the main thread's processor time. */
  readonly cpuMs: number
  /** Peak of the resident set. */
  readonly peakBytes: number
}

const TICK_MS = 1
const MAIN_THREAD = `/proc/self/task/${process.pid}/schedstat`

let held = { wallMs: 0, cpuMs: 0 }
let last = { wallMs: performance.now(), cpuMs: cpuMs() }

/** Between two ticks is one turn of the event loop, and nothing where there is nothing to do. */
setInterval(() => {
  const now = { wallMs: performance.now(), cpuMs: cpuMs() }
  held = {
    wallMs: Math.max(held.wallMs, now.wallMs - last.wallMs - TICK_MS),
    cpuMs: Math.max(held.cpuMs, now.cpuMs - last.cpuMs),
  }
  last = now
}, TICK_MS).unref()

process.on('message', () => {
  const answer: Held = { ...held, peakBytes: process.resourceUsage().maxRSS * 1024 }
  held = { wallMs: 0, cpuMs: 0 }
  process.send?.(answer)
})

/** What the kernel says that the main thread has run. */
function cpuMs(): number {
  return Number(readFileSync(MAIN_THREAD, 'utf8').split(' ', 1)[0]) / 1e6
}

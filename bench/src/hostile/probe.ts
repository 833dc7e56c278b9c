// Loaded into the gateway's process beside it: answers its parent how long its event loop was held, and its memory.
import { type Held, mainThreadMs } from './main-thread.ts'

const TICK_MS = 1

let held = { wallMs: 0, cpuMs: 0 }
let last = { wallMs: performance.now(), cpuMs: mainThreadMs(process.pid) }

/** Between two ticks is one turn of the event loop, and nothing where there is nothing to do. */
setInterval(() => {
  const now = { wallMs: performance.now(), cpuMs: mainThreadMs(process.pid) }
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

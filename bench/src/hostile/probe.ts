// Loaded into the gateway's process. It reports the longest block of the event loop, and the memory.
import { type LongestBlock, mainThreadMs } from './main-thread.ts'

const TICK_MS = 1

let held = { wallMs: 0, cpuMs: 0 }
let last = { wallMs: performance.now(), cpuMs: mainThreadMs(process.pid) }

/** One turn of the event loop lies between two ticks; nothing, while it is idle. */
setInterval(() => {
  const now = { wallMs: performance.now(), cpuMs: mainThreadMs(process.pid) }
  held = {
    wallMs: Math.max(held.wallMs, now.wallMs - last.wallMs - TICK_MS),
    cpuMs: Math.max(held.cpuMs, now.cpuMs - last.cpuMs),
  }
  last = now
}, TICK_MS).unref()

process.on('message', () => {
  const answer: LongestBlock = { ...held, peakBytes: process.resourceUsage().maxRSS * 1024 }
  held = { wallMs: 0, cpuMs: 0 }
  process.send?.(answer)
})

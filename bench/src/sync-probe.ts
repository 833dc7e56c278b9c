// Loaded into the gateway's process. It reports the longest block of the event loop, and the heap.
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { garbageCollector } from './rounds.ts'
import type { Question } from './sync/gateway.ts'

const delay = monitorEventLoopDelay({ resolution: 1 })
delay.enable()
const collectGarbage = garbageCollector()

process.on('message', (question: Question) => {
  process.send?.(question === 'heapBytes' ? heapBytes() : longestDelayMs())
})

function longestDelayMs(): number {
  const longest = delay.max / 1e6
  delay.reset()
  return longest
}

function heapBytes(): number {
  collectGarbage()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

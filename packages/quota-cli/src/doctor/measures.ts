import type { Redis } from 'ioredis'
import { lasting } from '../text.ts'
import { fault, ok, type ServerFinding, warning } from './finding.ts'

const PINGS = 50
/** Slower answers are felt in each request. */
const SLOW_MS = 50
/** A noticeable difference: windows follow the server's clock. */
const APART_MS = 1_000

/** The latency of answers. @param slowMs a median that is too slow */
export async function latency(
  ping: () => Promise<unknown>,
  pings: number = PINGS,
  slowMs: number = SLOW_MS,
): Promise<ServerFinding> {
  const times: number[] = []
  for (let count = 0; count < pings; count++) {
    const startedAt = performance.now()
    await ping()
    times.push(performance.now() - startedAt)
  }
  return judgeLatency(times, slowMs)
}

/**
 * @param times of answers, in milliseconds
 * @param slowMs a median that is too slow
 */
export function judgeLatency(times: readonly number[], slowMs: number = SLOW_MS): ServerFinding {
  const sorted = times.toSorted((a, b) => a - b)
  const [half = 0, worst = 0] = [sorted[Math.floor(sorted.length / 2)], sorted.at(-1)]
  const text = `median ${half.toFixed(2)} ms, slowest of ${sorted.length} ${worst.toFixed(2)} ms`
  return half < slowMs
    ? ok('latency', text)
    : warning('latency', text, 'each request waits so long: move closer to the server')
}

/** The difference between the server's clock and this machine's. @param time the answer to TIME */
export async function clock(time: () => Promise<readonly unknown[]>): Promise<ServerFinding> {
  const before = Date.now()
  const [seconds = 0, microseconds = 0] = (await time()).map(Number)
  return judgeClock(seconds * 1_000 + microseconds / 1_000, before, Date.now())
}

/** @param at the server's time, read between two readings of this machine's clock; all in epoch milliseconds */
export function judgeClock(at: number, before: number, after: number): ServerFinding {
  const apart = at - (before + after) / 2
  const off = Math.abs(apart) - (after - before) / 2
  if (off < APART_MS) return ok('clock', 'the same as on this machine, to the second')
  return warning(
    'clock',
    `${lasting(Math.abs(apart))} ${apart > 0 ? 'ahead of' : 'behind'} this machine's: times in answers are the server's`,
    'synchronize both by NTP',
  )
}

/** Whether scripts are allowed. Every decision is a script. */
export async function scripts(redis: Redis): Promise<ServerFinding> {
  try {
    await redis.eval('return 1', 0)
    return ok('scripts', 'allowed')
  } catch (error) {
    const why = error instanceof Error ? error.message.slice(0, 100) : String(error)
    return fault('scripts', `refused: ${why}`, 'allow EVAL and EVALSHA: every decision is a script')
  }
}

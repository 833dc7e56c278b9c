import { setImmediate, setTimeout } from 'node:timers/promises'

/** As long as timers and their callbacks need on an idle machine. */
const STEP_MS = 10
/** How often a check is repeated, in milliseconds. */
const LOOK_MS = 5

let ownMs: number | undefined

/** A step counts once, even if it took longer. It keeps no process alive. */
async function count(): Promise<never> {
  for (;;) {
    await setTimeout(STEP_MS, undefined, { ref: false })
    await setImmediate()
    ownMs = (ownMs ?? 0) + STEP_MS
  }
}

/**
 * Milliseconds that this process was running, in steps of ten, without the time that other processes took. Never ahead
 * of the clock. A timer has fired once its delay has passed in own time, even on a busy machine. So tests compare upper
 * bounds with it, and lower bounds with the clock.
 */
export function ownTime(): number {
  if (ownMs === undefined) {
    ownMs = 0
    void count()
  }
  return ownMs
}

/** Repeats a check until it passes. Fails with its error if that takes longer in own time. */
export async function withinOwnTime<T>(limitMs: number, check: () => T | PromiseLike<T>): Promise<T> {
  const began = ownTime()
  for (;;) {
    try {
      return await check()
    } catch (error) {
      if (ownTime() - began > limitMs) throw error
      await setTimeout(LOOK_MS)
    }
  }
}

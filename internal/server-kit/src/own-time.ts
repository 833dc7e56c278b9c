import { setImmediate, setTimeout } from 'node:timers/promises'

/** As long as timers and what they set off need on a machine that has nothing else to do. */
const STEP_MS = 10
/** How often a check is made again, in milliseconds. */
const LOOK_MS = 5

let ownMs: number | undefined

/** A step counts as one however long it took. Keeps no process alive. */
async function count(): Promise<never> {
  for (;;) {
    await setTimeout(STEP_MS, undefined, { ref: false })
    await setImmediate()
    ownMs = (ownMs ?? 0) + STEP_MS
  }
}

/**
 * Milliseconds that this process has had, in steps of ten: what it was kept from running by others is not among them. Never
 * ahead of the clock. A timer has fired once its delay has passed in own time too, however busy the machine is: so upper
 * bounds of tests are judged by it, and lower ones by the clock.
 */
export function ownTime(): number {
  if (ownMs === undefined) {
    ownMs = 0
    void count()
  }
  return ownMs
}

/** Makes a check again and again until it passes; fails as it does where that takes longer in own time. */
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

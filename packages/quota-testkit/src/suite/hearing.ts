import assert from 'node:assert/strict'
import type { Answer } from '@scoregw/quota/store'

/** The longest that a change may go unheard, in milliseconds. */
const HEARD_WITHIN_MS = 1_000
/** Between two looks at what only a look can tell, in milliseconds. */
const LOOK_EVERY_MS = 5

/** A listener, and the wait for its call number `calls`, at most as long as the port allows. */
export function hearing(calls = 1): { readonly listener: () => void; heard(): Promise<void> } {
  let left = calls
  return {
    listener() {
      left--
    },
    heard: () => soon('a write is heard of', () => left <= 0),
  }
}

/**
 * Looks until something is so; fails when it is not so within the time that the port allows. That time is counted in
 * looks: on a busy machine they come as late as the timers of the store, whereas a clock would go on alone.
 */
export async function soon(what: string, look: () => Answer<boolean>): Promise<void> {
  for (let passedMs = 0; !(await look()); passedMs += LOOK_EVERY_MS) {
    assert.ok(passedMs < HEARD_WITHIN_MS, `${what}: not within ${HEARD_WITHIN_MS} ms`)
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS))
  }
}

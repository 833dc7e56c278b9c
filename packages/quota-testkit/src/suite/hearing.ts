import assert from 'node:assert/strict'
import type { Answer } from '@scoregw/quota/store'

/** The longest that a change may go unheard, in milliseconds. */
const HEARD_WITHIN_MS = 1_000
/** Between two looks at what only a look can tell, in milliseconds. */
const LOOK_EVERY_MS = 5

/** A listener, and the wait for its call number `calls`, at most as long as the port allows. */
export function hearing(calls = 1): { readonly listener: () => void; heard(): Promise<void> } {
  let left = calls
  let resolve = (): void => undefined
  const told = new Promise<void>((settle) => {
    resolve = settle
  })
  return {
    listener() {
      left--
      if (left === 0) resolve()
    },
    async heard() {
      let timer: ReturnType<typeof setTimeout> | undefined
      const late = new Promise<never>((_, reject) => {
        const error = new assert.AssertionError({ message: `a write was not heard of within ${HEARD_WITHIN_MS} ms` })
        timer = setTimeout(() => reject(error), HEARD_WITHIN_MS)
      })
      await Promise.race([told, late]).finally(() => clearTimeout(timer))
    },
  }
}

/** Looks until something is so; fails when it is not so within the time that the port allows. */
export async function soon(what: string, look: () => Answer<boolean>): Promise<void> {
  const until = performance.now() + HEARD_WITHIN_MS
  while (!(await look())) {
    assert.ok(performance.now() < until, `${what}: not within ${HEARD_WITHIN_MS} ms`)
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS))
  }
}

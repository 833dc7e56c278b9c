import { AsyncLocalStorage } from 'node:async_hooks'
import { afterAll, beforeAll, onTestFinished } from 'vitest'

type End = () => unknown

/** The ends of the shared fixture that is being made. */
const making = new AsyncLocalStorage<End[]>()

/** Runs `end` after the test that calls it, or after the last test that uses the fixture of {@link shared}. */
export function whenDone(end: End): void {
  const ends = making.getStore()
  if (ends === undefined) onTestFinished(async () => void (await end()))
  else ends.push(end)
}

/** Makes a fixture once for all tests of a `describe`, so that tests of one story share its processes. */
export function shared<T>(make: () => Promise<T>): () => T {
  const ends: End[] = []
  let made: T | undefined
  beforeAll(async () => {
    made = await making.run(ends, make)
  })
  afterAll(async () => {
    for (const end of ends.reverse()) await end()
  })
  return () => made as T
}

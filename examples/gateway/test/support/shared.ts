import { AsyncLocalStorage } from 'node:async_hooks'
import { afterAll, beforeAll, expect, onTestFinished } from 'vitest'

type End = () => unknown

/** The shared fixture that is being made: its ends, and its test file. */
const making = new AsyncLocalStorage<{ readonly ends: End[]; readonly path: string }>()

/** Runs `end` after the test that calls it, or after the last test that uses the fixture of {@link shared}. */
export function whenDone(end: End): void {
  const fixture = making.getStore()
  if (fixture === undefined) onTestFinished(async () => void (await end()))
  else fixture.ends.push(end)
}

/** The file of the test, or of the fixture that is being made. */
export function testFile(): string {
  return making.getStore()?.path ?? expect.getState().testPath ?? ''
}

/** Makes a fixture once for all tests of a `describe`, so that tests of one story share its processes. */
export function shared<T>(make: () => Promise<T>): () => T {
  const ends: End[] = []
  let made: T | undefined
  // biome-ignore lint/correctness/noEmptyPattern: Vitest passes the suite second, and parses the pattern of the first
  beforeAll(async ({}, suite) => {
    made = await making.run({ ends, path: suite.file.filepath }, make)
  })
  afterAll(async () => {
    for (const end of ends.reverse()) await end()
  })
  return () => made as T
}

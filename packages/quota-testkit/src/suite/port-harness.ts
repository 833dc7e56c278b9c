import assert from 'node:assert/strict'
import type { Answer } from '@scoregw/quota/store'

/** The part of a test runner that the suites need. Vitest, Jest and `node:test` all have it. */
export interface TestRunner {
  describe(name: string, body: () => void): unknown
  it(name: string, test: () => Promise<void>): unknown
}

/** A new, empty store of a small port: `FactorStore` or `OutcomeStore`. */
export interface PortHarness<Port> {
  readonly store: Port
  /** The store as another process sees it, through another client of the same data. Default: `store` itself */
  readonly peer?: Port | undefined
  /** Closes what the factory opened. */
  stop(): Answer<void>
}

/** Makes a new, empty store. Called once per case. */
export type PortFactory<Port> = () => Answer<PortHarness<Port>>

/** A case that every store of a port must pass. It throws an `AssertionError` on failure. */
export interface PortCase<Port> {
  readonly name: string
  run(context: { readonly store: Port; readonly peer: Port }): Promise<void>
}

/** Makes a case without special needs. */
export function plainCase<Context>(
  name: string,
  run: (context: Context) => Promise<void>,
): { readonly name: string; run(context: Context): Promise<void> } {
  return { name, run }
}

/** Runs one case on a new store. */
export async function runPortCase<Port>(testCase: PortCase<Port>, factory: PortFactory<Port>): Promise<void> {
  const harness = await factory()
  try {
    await testCase.run({ store: harness.store, peer: harness.peer ?? harness.store })
  } finally {
    await harness.stop()
  }
}

/** Registers cases as tests of a runner. Returns how many there are. */
export function describeCases<Case extends { readonly name: string }>(
  { describe, it }: TestRunner,
  name: string,
  cases: readonly Case[],
  run: (testCase: Case) => Promise<void>,
): number {
  describe(name, () => {
    for (const testCase of cases) it(testCase.name, () => run(testCase))
  })
  return cases.length
}

/** The maximum delay of a notification, in milliseconds. */
const HEARD_WITHIN_MS = 1_000
/** The polling interval for conditions without an event, in milliseconds. */
const POLL_EVERY_MS = 5

/** Makes a listener, and a promise of its call number `calls`, with the maximum delay. */
function listening(calls = 1): { readonly listener: () => void; notified(): Promise<void> } {
  let left = calls
  return {
    listener() {
      left--
    },
    notified: () => soon('a write is reported', () => left <= 0),
  }
}

/**
 * Polls a condition. Fails if it isn't met in the time that the port allows. The time is counted in polls, because on a
 * busy machine polls are delayed like the store's own timers.
 */
export async function soon(what: string, read: () => Answer<boolean>): Promise<void> {
  for (let passedMs = 0; !(await read()); passedMs += POLL_EVERY_MS) {
    assert.ok(passedMs < HEARD_WITHIN_MS, `${what}: not within ${HEARD_WITHIN_MS} ms`)
    await new Promise((resolve) => setTimeout(resolve, POLL_EVERY_MS))
  }
}

/** How to watch, write and read a store of a port. */
interface Watched<Store> {
  watch(store: Store, listener: () => void): () => void
  /** Makes the next write after this many, and asserts that it succeeds. */
  write(store: Store, writes: number): Promise<void>
  /** The number of writes of the stored value. */
  version(store: Store): Promise<number | undefined>
}

interface TwoStores<Store> {
  readonly store: Store
  readonly peer: Store
}

/** Cases about notifications of writes. */
export function watchCases<Store>(
  port: string,
  { watch, write, version }: Watched<Store>,
): readonly { readonly name: string; run(context: TwoStores<Store>): Promise<void> }[] {
  return [
    plainCase(
      `${port}: every watcher is notified of each write within a second, also by other processes`,
      async (given) => {
        const { store, peer }: TwoStores<Store> = given
        for (const [writes, writer] of [store, peer, peer].entries()) {
          const notified = [store, peer].map((each) => ({ ...listening(), each }))
          const stops = notified.map(({ each, listener }) => watch(each, listener))
          await write(writer, writes)
          await Promise.all(notified.map((each) => each.notified()))
          for (const stop of stops) stop()
        }
      },
    ),
    plainCase(`${port}: a read after a notification returns the write`, async ({ store, peer }: TwoStores<Store>) => {
      const first = listening()
      const stop = watch(peer, () => {
        void version(peer).then((seen) => {
          if (seen === 1) first.listener()
        })
      })
      await write(store, 0)
      await first.notified()
      stop()
    }),
    plainCase(
      `${port}: a listener that watches twice is notified twice, and each watch ends separately`,
      async (given) => {
        const { store, peer }: TwoStores<Store> = given
        let calls = 0
        const listener = (): void => void calls++
        const [first, second] = [watch(store, listener), watch(store, listener)]
        await write(peer, 0)
        await soon('both watches are told', () => calls >= 2)
        first()
        first()
        const before = calls
        await write(peer, 1)
        await soon('the other watch is told', () => calls > before)
        second()
      },
    ),
    plainCase(`${port}: a listener isn’t notified after its watch ended`, async ({ store, peer }: TwoStores<Store>) => {
      let calls = 0
      const stop = watch(store, () => void calls++)
      await write(peer, 0)
      await soon('a write is reported', () => calls > 0)
      stop()
      const before = calls
      const after = listening()
      const stopAfter = watch(store, after.listener)
      await write(peer, 1)
      await after.notified()
      stopAfter()
      assert.equal(calls, before)
    }),
  ]
}

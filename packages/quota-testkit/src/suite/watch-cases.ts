import assert from 'node:assert/strict'
import type { Answer } from '@scoregw/quota/store'
import type { PortCase, PortContext } from './harness.ts'

/** The maximum delay of a notification, in milliseconds. */
const HEARD_WITHIN_MS = 1_000
/** The polling interval for conditions without an event, in milliseconds. */
const POLL_EVERY_MS = 5

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

/** Makes the cases of a small port, by what their names say after the port's. */
export function portCases<Port>(
  port: string,
  plays: Readonly<Record<string, (context: PortContext<Port>) => Promise<void>>>,
): readonly PortCase<Port>[] {
  return Object.entries(plays).map(([name, play]) => ({
    name: `${port}: ${name}`,
    run: ({ store, peer = store }) => play({ store, peer }),
  }))
}

/** How to watch, write and read a store of a port. */
interface Watched<Store> {
  watch(store: Store, listener: () => void): () => void
  /** Makes the next write after this many, and asserts that it succeeds. */
  write(store: Store, writes: number): Promise<void>
  /** The number of writes of the stored value. */
  version(store: Store): Promise<number | undefined>
}

/** Cases about notifications of writes. */
export function watchCases<Store>(port: string, { watch, write, version }: Watched<Store>): readonly PortCase<Store>[] {
  /** Watches a store, and counts the calls. */
  const watching = (store: Store) => {
    const watched = { calls: 0, stop: watch(store, () => void watched.calls++) }
    return watched
  }
  return portCases<Store>(port, {
    async 'every watcher is notified of each write within a second, also by other processes'({ store, peer }) {
      for (const [writes, writer] of [store, peer, peer].entries()) {
        const watched = [watching(store), watching(peer)]
        await write(writer, writes)
        await soon('a write is reported', () => watched.every(({ calls }) => calls > 0))
        for (const { stop } of watched) stop()
      }
    },
    async 'a read after a notification returns the write'({ store, peer }) {
      let seen: number | undefined
      const stop = watch(peer, () => {
        void version(peer).then((read) => {
          seen = read
        })
      })
      await write(store, 0)
      await soon('the write is read', () => seen === 1)
      stop()
    },
    async 'a listener that watches twice is notified twice, and each watch ends separately'({ store, peer }) {
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
    async 'a listener isn’t notified after its watch ended'({ store, peer }) {
      const ended = watching(store)
      await write(peer, 0)
      await soon('a write is reported', () => ended.calls > 0)
      ended.stop()
      const before = ended.calls
      const after = watching(store)
      await write(peer, 1)
      await soon('a write is reported', () => after.calls > 0)
      after.stop()
      assert.equal(ended.calls, before)
    },
  })
}

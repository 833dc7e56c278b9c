import assert from 'node:assert/strict'
import {
  adaptiveTicker,
  type FactorReason,
  type FactorState,
  type FactorStore,
  initialFactor,
  memoryOutcomes,
} from '@scoregw/quota/adaptive'
import { manualClock } from '../manual-clock.ts'
import type { PortCase } from './harness.ts'
import { portCases, watchCases } from './watch-cases.ts'

const MINUTE = 29_767_566

function stateOf(factorHundredths: number): FactorState {
  return { ...initialFactor(), factorHundredths }
}

const REASON: FactorReason = {
  code: 'errors_high',
  at: MINUTE * 60_000,
  fromHundredths: 100,
  toHundredths: 90,
  counts: { calls: 123_456_789_012, errors: 300, recentCalls: 500, recentErrors: 0 },
  bounds: { low: 0.089_791_827_364_554_64, high: 1e-9, recentLow: 0 },
  failed: { levelHundredths: 105, retryAt: MINUTE * 60_000 + 14_400_000 },
}

/** A state with all kinds of values: null, fractions, large numbers, full and empty lists. */
const FULL_STATE: FactorState = {
  ...initialFactor(),
  factorHundredths: 90,
  lastMoveAt: MINUTE * 60_000,
  tickedAt: MINUTE * 60_000,
  reason: REASON,
  history: [REASON, { ...REASON, code: 'little_traffic', failed: null }],
}

/** All cases for a store of the adaptive factor. */
export const FACTOR_STORE_CASES: readonly PortCase<FactorStore>[] = [
  ...portCases<FactorStore>('factor', {
    async 'a new store holds nothing'({ store, peer }) {
      assert.equal(await store.read(), undefined)
      assert.equal(await peer.read(), undefined)
      assert.equal(await store.compareAndSet(1, MINUTE, stateOf(90)), false, 'version 1 is not stored')
      assert.equal(await store.read(), undefined, 'a write that was refused stores nothing')
    },
    async 'versions count the writes of every process'({ store, peer }) {
      for (const [version, writer] of [store, peer, peer, store].entries()) {
        const state = stateOf(100 + version)
        assert.equal(await writer.compareAndSet(version, MINUTE + version, state), true)
        const expected = { version: version + 1, minute: MINUTE + version, state }
        assert.deepEqual(await store.read(), expected)
        assert.deepEqual(await peer.read(), expected)
      }
    },
    async 'a state is read as it was written'({ store, peer }) {
      assert.equal(await store.compareAndSet(0, MINUTE, FULL_STATE), true)
      assert.deepEqual((await peer.read())?.state, FULL_STATE)
      assert.equal(await store.compareAndSet(1, MINUTE + 1, initialFactor()), true)
      assert.deepEqual((await peer.read())?.state, initialFactor(), 'nothing of the state before is left')
    },
    async 'a write over another version than the stored one is refused'({ store, peer }) {
      await store.compareAndSet(0, MINUTE, stateOf(90))
      await store.compareAndSet(1, MINUTE + 1, stateOf(80))
      for (const version of [0, 1, 3, 20]) {
        assert.equal(await peer.compareAndSet(version, MINUTE + 2, stateOf(120)), false, `over version ${version}`)
      }
      assert.deepEqual(await store.read(), { version: 2, minute: MINUTE + 1, state: stateOf(80) })
    },
    async 'a minute isn’t written twice in a row'({ store, peer }) {
      assert.equal(await store.compareAndSet(0, MINUTE, stateOf(90)), true)
      assert.equal(await peer.compareAndSet(1, MINUTE, stateOf(80)), false)
      assert.equal(await store.compareAndSet(1, MINUTE, stateOf(80)), false)
      assert.deepEqual(await store.read(), { version: 1, minute: MINUTE, state: stateOf(90) })
    },
    async 'a minute may be earlier than the last, even minute 0'({ store }) {
      for (const [version, minute] of [MINUTE, 0, MINUTE - 3, MINUTE].entries()) {
        assert.equal(await store.compareAndSet(version, minute, stateOf(100 - version)), true, `minute ${minute}`)
        assert.equal((await store.read())?.minute, minute)
      }
    },
    async 'one of many concurrent writers succeeds'({ store, peer }) {
      for (const version of [0, 1, 2]) {
        const written = await Promise.all(
          Array.from({ length: 20 }, async (_, index) =>
            (index % 2 === 0 ? store : peer).compareAndSet(
              version,
              MINUTE + 100 * version + index,
              stateOf(75 + index),
            ),
          ),
        )
        const writers = written.filter((done) => done).length
        assert.equal(writers, 1, `${writers} of 20 wrote over version ${version}`)
        const stored = await store.read()
        assert.deepEqual([stored?.version, stored?.state], [version + 1, stateOf(75 + written.indexOf(true))])
      }
    },
  }),
  ...watchCases<FactorStore>('factor', {
    watch: (store, listener) => store.watch(listener),
    async write(store, version) {
      assert.equal(await store.compareAndSet(version, MINUTE + version, stateOf(90)), true)
    },
    version: async (store) => (await store.read())?.version,
  }),
  ...portCases<FactorStore>('factor', {
    async 'tickers of several processes tick each minute once, even when late or repeated'({ store, peer }) {
      const outcomes = memoryOutcomes()
      const clock = manualClock(MINUTE * 60_000)
      const tickers = [store, peer, store, peer].map((factorStore) => adaptiveTicker({ outcomes, factorStore, clock }))
      for (let minute = 1; minute <= 5; minute++) {
        const done = await Promise.all(tickers.map((ticker) => ticker.tick()))
        clock.advance(45_000)
        done.push(...(await Promise.all(tickers.slice(1).map((ticker) => ticker.tick()))))
        clock.advance(15_000)
        assert.equal(done.filter(({ status }) => status === 'ticked').length, 1, `minute ${minute}`)
        assert.equal((await store.read())?.version, minute)
      }
    },
  }),
]

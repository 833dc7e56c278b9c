import assert from 'node:assert/strict'
import {
  type MinuteOutcomes,
  OUTCOME_COLUMNS,
  OUTCOMES_KEPT_MINUTES,
  type OutcomeColumn,
  type OutcomeStore,
  outcomeRecorder,
} from '@scoregw/quota/adaptive'
import { manualClock } from '../manual-clock.ts'
import type { PortCase } from './harness.ts'
import { portCases } from './watch-cases.ts'

const MINUTE = 29_767_566

function counts(minute: number, some: Partial<Record<OutcomeColumn, number>> = {}): MinuteOutcomes {
  const none = Object.fromEntries(OUTCOME_COLUMNS.map((column) => [column, 0])) as Record<OutcomeColumn, number>
  return { minute, ...none, ...some }
}

/** Reads minutes from a store, without those that have no calls, because a store may omit them. */
async function read(store: OutcomeStore, from: number, to: number): Promise<MinuteOutcomes[]> {
  const minutes = await store.read(from, to)
  return minutes.filter((each) => OUTCOME_COLUMNS.some((column) => each[column] > 0)).map((each) => ({ ...each }))
}

/** All cases for a store of outcomes. */
export const OUTCOME_STORE_CASES: readonly PortCase<OutcomeStore>[] = portCases<OutcomeStore>('outcomes', {
  async 'a new store has no counts'({ store }) {
    assert.deepEqual(await read(store, MINUTE - 30, MINUTE), [])
    await store.add([])
    await store.add([counts(MINUTE)])
    assert.deepEqual(await read(store, MINUTE - 30, MINUTE + 1), [])
  },
  async 'every count is kept separately'({ store, peer }) {
    const all = Object.fromEntries(OUTCOME_COLUMNS.map((column, index) => [column, 10 ** index]))
    await store.add([counts(MINUTE, all)])
    assert.deepEqual(await read(peer, MINUTE, MINUTE + 1), [counts(MINUTE, all)])
    for (const [index, column] of OUTCOME_COLUMNS.entries()) {
      await store.add([counts(MINUTE + 1 + index, { [column]: 7 })])
    }
    assert.deepEqual(
      await read(peer, MINUTE + 1, MINUTE + 60),
      OUTCOME_COLUMNS.map((column, index) => counts(MINUTE + 1 + index, { [column]: 7 })),
    )
  },
  async 'counts of a minute add up over processes'({ store, peer }) {
    await store.add([counts(MINUTE, { calls: 3, serverError: 1 }), counts(MINUTE, { calls: 2 })])
    await peer.add([counts(MINUTE, { calls: 4, codeZero: 2 }), counts(MINUTE + 1, { calls: 1 })])
    await store.add([counts(MINUTE, { calls: 1 })])
    const sums = [counts(MINUTE, { calls: 10, serverError: 1, codeZero: 2 }), counts(MINUTE + 1, { calls: 1 })]
    assert.deepEqual(await read(store, MINUTE, MINUTE + 2), sums)
    assert.deepEqual(await read(peer, MINUTE, MINUTE + 2), sums)
  },
  async 'concurrent adds lose nothing'({ store, peer }) {
    await Promise.all(
      Array.from({ length: 40 }, async (_, index) =>
        (index % 2 === 0 ? store : peer).add([
          counts(MINUTE, { calls: 1, refused: index % 4 === 0 ? 1 : 0 }),
          counts(MINUTE + (index % 3), { calls: 100 }),
        ]),
      ),
    )
    assert.deepEqual(await read(store, MINUTE, MINUTE + 3), [
      counts(MINUTE, { calls: 1_440, refused: 10 }),
      counts(MINUTE + 1, { calls: 1_300 }),
      counts(MINUTE + 2, { calls: 1_300 }),
    ])
  },
  async 'a half-open range of minutes is read in order'({ store }) {
    const minutes = [45, 3, 29, 0, 31, 30, 60].map((after) => MINUTE + after)
    for (const minute of minutes) await store.add([counts(minute, { calls: 1 + minute - MINUTE })])
    const between = async (from: number, to: number): Promise<number[]> =>
      (await read(store, MINUTE + from, MINUTE + to)).map(({ minute }) => minute - MINUTE)
    assert.deepEqual(await between(0, 61), [0, 3, 29, 30, 31, 45, 60])
    assert.deepEqual(await between(0, 60), [0, 3, 29, 30, 31, 45])
    assert.deepEqual(await between(3, 30), [3, 29])
    assert.deepEqual(await between(30, 31), [30])
    assert.deepEqual(await between(4, 29), [])
    assert.deepEqual(await between(30, 30), [])
    assert.deepEqual(await between(31, 3), [])
  },
  async 'a minute may be added late, and 8 days are kept'({ store, peer }) {
    const oldest = MINUTE - OUTCOMES_KEPT_MINUTES + 1
    await store.add([counts(MINUTE, { calls: 2 })])
    await store.add([counts(oldest, { calls: 1 }), counts(MINUTE - 5_000, { calls: 3 })])
    assert.deepEqual(await read(peer, oldest, MINUTE + 1), [
      counts(oldest, { calls: 1 }),
      counts(MINUTE - 5_000, { calls: 3 }),
      counts(MINUTE, { calls: 2 }),
    ])
  },
  async 'counts beyond 32 bits stay exact'({ store }) {
    for (const calls of [2 ** 31 - 1, 2 ** 32, 2 ** 45]) await store.add([counts(MINUTE, { calls })])
    const exact = 2 ** 31 - 1 + 2 ** 32 + 2 ** 45
    assert.deepEqual(await read(store, MINUTE, MINUTE + 1), [counts(MINUTE, { calls: exact })])
  },
  async 'a recorder’s outcomes reach the store'({ store, peer }) {
    const clock = manualClock(MINUTE * 60_000)
    const recorder = outcomeRecorder({ store, clock })
    for (const httpStatus of [200, 304, 404, 429, 500, 0]) recorder.record({ httpStatus })
    recorder.record({ httpStatus: 200, businessFail: true })
    recorder.record({ httpStatus: 503, quotaUnavailable: true })
    await recorder.flush()
    clock.advance(60_000)
    recorder.record({ httpStatus: 200 })
    await recorder.close()
    assert.deepEqual(await read(peer, MINUTE, MINUTE + 2), [
      {
        minute: MINUTE,
        calls: 8,
        codeZero: 1,
        clientError: 2,
        serverError: 2,
        businessFail: 1,
        refused: 1,
        quotaUnavailable: 1,
      },
      counts(MINUTE + 1, { calls: 1 }),
    ])
  },
})

import { cellsIn, windowCell } from '@scoregw/quota/internal'
import { uniform } from '@scoregw/quota-histories'
import { manualClock } from '@scoregw/quota-testkit'
import { Redis } from 'ioredis'
import { describe, expect, it } from 'vitest'
import { connectionTo } from '../../src/connection/connections.ts'
import { Keys } from '../../src/keys/keys.ts'
import { type GrantReply, type GrantRequest, SharedCalls } from '../../src/leases/shared-calls.ts'
import { newPrefix } from '../store-harness.ts'
import { useCleanups, useRedis } from '../support/cleanups.ts'
import { redisTests } from '../support/redis-server.ts'

const HOUR_MS = 3_600_000
const LIMIT = 1_000_000
const SCHEMA = uniform(
  ['requests', 'tokens'],
  cellsIn(
    ['requests', 'tokens'],
    ['requests', 'tokens'].map((unit) => windowCell({ label: '1h', lengthMs: HOUR_MS }, unit)),
  ),
  [{ name: 'site', shared: true }],
)
/** More than there is. */
const ALL = [LIMIT, LIMIT]
const NONE = [0, 0]

const { later } = useCleanups()

describe.runIf(redisTests)('grants of leases', () => {
  const redis = useRedis()

  /** Processes that share a site. */
  function site() {
    const [prefix, testClock] = [newPrefix(), manualClock()]
    const keys = new Keys(prefix, SCHEMA)
    const connection = connectionTo(new Redis({ port: redis.port, lazyConnect: true }), keys.settings, {})
    later(() => connection.close())
    const [book, start] = [keys.book([0]), testClock.now()]
    let leases = 0
    const callsOf = (process: string) =>
      new SharedCalls({ connection, replicas: async () => 0, keys, deadlineMs: 60_000, testClock, process })

    /** By default of a request for one of each unit, which may open windows, and of nothing more. */
    async function grant(process: string, more: Partial<GrantRequest> = {}): Promise<GrantReply & { id: string }> {
      const id = `${process}:${leases++}`
      const terms = { limits: ALL, settingsRevision: undefined, periods: undefined }
      const request = { ...terms, costs: [[1, 1]], wanted: NONE, idle: NONE, mayOpen: true, leaseId: id, ...more }
      const reply = await callsOf(process).grant([0], request, () => undefined)
      // The server's clock goes on, and the site's stands.
      await redis.admin.pexpire(book, 1_000_000)
      return { ...reply, id }
    }

    /** Returns a part of a lease, by default in the windows that the first grant opened. */
    function refund({ id, sentAt }: GrantReply & { id: string }, amounts: readonly number[], starts = [start, start]) {
      const terms = { limits: [], settingsRevision: undefined, periods: undefined }
      const lease = { ...terms, id, amounts, sentAt, now: start, endsAt: start + HOUR_MS, starts }
      return callsOf('any').refund([0], lease, amounts)
    }

    return { grant, refund, testClock, start, book }
  }

  it('a process gets its share of half the rest, by how many processes asked in the last five seconds', async () => {
    const { grant, testClock } = site()
    const amounts = async (process: string, idle = NONE) => (await grant(process, { wanted: ALL, idle })).amounts
    expect(await amounts('a')).toEqual([500_000, 500_000])
    expect(await amounts('b')).toEqual([125_000, 125_000])
    // What it has is a part of its share.
    expect(await amounts('b', [100_000, 50_000])).toEqual([18_750, 56_250])
    testClock.advance(4_999)
    expect(await amounts('b')).toEqual([89_063, 79_688])
    testClock.advance(1)
    expect(await amounts('b')).toEqual([133_594, 119_531])
  })

  it('a lease is reported to other processes for two seconds, and can be returned for five', async () => {
    const { grant, refund, testClock } = site()
    const first = await grant('a', { wanted: [99, 9] })
    expect([first.amounts, first.leasedByOthers]).toEqual([[100, 10], NONE])
    const other = await grant('a', { costs: [[2, 2]] })
    expect(other.leasedByOthers).toEqual(NONE)
    testClock.advance(1_999)
    expect((await grant('b')).leasedByOthers).toEqual([102, 12])
    testClock.advance(1)
    expect((await grant('b')).leasedByOthers).toEqual(NONE)
    testClock.advance(2_999)
    await grant('b')
    expect(await refund(other, [2, 2])).toEqual([2, 2])
    testClock.advance(1)
    await grant('b')
    expect(await refund(first, [1, 1])).toEqual(NONE)
  })

  it('a lease is returned once, and the book still expires', async () => {
    const { grant, refund, book } = site()
    const lease = await grant('a', { wanted: [99, 9] })
    expect(await refund(lease, [1_000, 5])).toEqual([100, 5])
    expect(await redis.admin.pttl(book)).toBeGreaterThan(0)
    expect(await refund(lease, [1, 1])).toEqual(NONE)
  })

  it('what was leased is not given back to a window that wasn’t open then', async () => {
    const { grant, refund, start } = site()
    const lease = await grant('a', { costs: [[10, 10]] })
    await refund(lease, [10, 10], [start, -1])
    const { statuses } = await grant('a', {
      costs: [
        [LIMIT, 0],
        [0, LIMIT],
        [0, LIMIT - 10],
      ],
    })
    expect(statuses).toBe('ara')
  })

  it('requests are decided in order, by what is left of the units that they cost', async () => {
    const { grant } = site()
    const costs = [
      [8, 0],
      [3, 0],
      [2, 4],
      [0, 0],
      [0, 1],
    ]
    const { statuses, amounts } = await grant('a', { costs, limits: [10, 4], wanted: [1, 1] })
    expect([statuses, amounts]).toEqual(['araar', [10, 4]])
    // Of what is above a lowered limit, nothing is left.
    expect((await grant('a', { costs: [[0, 1]], limits: [5, LIMIT] })).statuses).toBe('a')
  })

  it('nothing is leased together with a refusal, of other units neither', async () => {
    const { grant } = site()
    const costs = Array.from({ length: 111 }, () => [1, 0])
    expect((await grant('a', { costs, limits: [110, LIMIT], wanted: [0, 9] })).amounts).toEqual([110, 0])
  })

  it('nothing is leased near a limit, or if a unit has nothing to lease', async () => {
    const { grant } = site()
    const amounts = async (process: string, cost: number, limit: number) =>
      (await grant(process, { costs: [[cost, 1]], limits: [limit, LIMIT], wanted: [9, 9] })).amounts
    // Near are a hundred times the highest cost, for each process.
    expect(await amounts('a', 10, 999)).toEqual([10, 1])
    expect(await amounts('a', 10, 10 + 1_000)).toEqual([19, 10])
    expect(await amounts('b', 1, 29 + 199)).toEqual([1, 1])
    expect(await amounts('b', 1, 30 + 200)).toEqual([10, 10])
    expect((await grant('a', { wanted: [9, 9], idle: [0, LIMIT] })).amounts).toEqual([1, 1])
  })

  it('windows are opened only by requests that may', async () => {
    const { grant, testClock } = site()
    const outcome = async (more: Partial<GrantRequest>) => {
      const { statuses, amounts } = await grant('a', more)
      return [statuses, amounts]
    }
    for (const _ of ['new', 'ended']) {
      expect(await outcome({ mayOpen: false })).toEqual(['w', NONE])
      expect(await outcome({ costs: [], wanted: [9, 9] })).toEqual(['', NONE])
      expect(await outcome({})).toEqual(['a', [1, 1]])
      expect(await outcome({ mayOpen: false })).toEqual(['a', [1, 1]])
      expect(await outcome({ costs: [], wanted: [9, 9] })).toEqual(['', [9, 9]])
      testClock.advance(HOUR_MS)
    }
  })
})

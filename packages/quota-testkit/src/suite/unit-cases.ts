import assert from 'node:assert/strict'
import { windowCell } from '@scoregw/quota/internal'
import type { ConformanceCase } from './harness.ts'
import { HOUR, HOUR_MS, HOURLY, type Limits, MINUTE_MS, SECOND_MS, USER } from './limits.ts'
import { Probe } from './probe.ts'
import { casesOn, needing } from './scene.ts'

const LIMITS = {
  requests: [USER, windowCell({ label: '1m', lengthMs: MINUTE_MS }, 'requests')],
  tokens: [USER, HOUR],
  money: [USER, windowCell({ label: '2h', lengthMs: 2 * HOUR_MS }, 'money')],
} as const

/** One window per unit: a minute of requests, an hour of tokens, two hours of money. */
const THREE: Limits = { units: ['requests', 'tokens', 'money'], limits: LIMITS }
const TOKENS: Limits = { limits: { tokens: LIMITS.tokens } }

/** Cases about limits of several units. */
export const UNIT_CASES: readonly ConformanceCase[] = casesOn(
  { about: 'units: ', limits: THREE },
  {
    "a limit of a unit without cost isn't moved to the present": needing('clock-steps', async (scene) => {
      const { admit, refuse, read, stepClock, begin } = scene
      await admit({ tokens: 3 })
      await stepClock(-20 * SECOND_MS)
      await admit(1)
      await refuse(11)
      await stepClock(20 * SECOND_MS)
      assert.deepEqual((await read()).shown.tokens, [begin, 3])
    }),
    async 'another unit has another counter'({ store, peer }) {
      const requests = windowCell({ label: '1h', lengthMs: HOUR_MS }, 'requests')
      const [one, other] = [
        new Probe(store, TOKENS),
        new Probe(peer, { units: ['requests'], limits: { all: [USER, requests] } }),
      ]
      await one.admit(9)
      await other.admit(8)
      await one.isUsed(9)
      await other.isUsed(8)
      await new Probe(peer, HOURLY).isUsed(9, {}, 'tokens have the counters of policies without units')
    },
    async 'units of another policy are kept'({ admit, read, peer, begin }) {
      const some = new Probe(peer, TOKENS)
      await admit({ requests: 1, tokens: 2, money: 3 })
      await some.admit(4)
      await some.refuse(7)
      await some.reset()
      await some.admit(1)
      assert.deepEqual((await read()).shown, { requests: [begin, 1], tokens: [begin + 1, 1], money: [begin, 3] })
    },
    async 'spending without the store is charged over any limit'({ admit, commit, isUsed }) {
      const reply = await admit({ requests: 9, tokens: 9, money: 9 })
      await commit(reply, { requests: -3, tokens: 2 })
      await isUsed({ requests: 12, tokens: 7, money: 9 })
    },
    'a policy with fewer units keeps other units charged and gives them back': needing('holds', async (scene) => {
      const { held, isUsed, peer } = scene
      const less = new Probe(peer, TOKENS)
      await held('a', { requests: 1, tokens: 5, money: 3 })
      await held('b', { requests: 2, tokens: 1, money: 4 })
      assert.deepEqual((await less.list())[0]?.costs, { requests: 1, tokens: 5, money: 3 })
      assert.deepEqual(await less.committed('a', { actual: 2 }), ['settled', 2, 0, 5])
      await isUsed({ requests: 3, tokens: 3, money: 7 })
      assert.equal(await less.released('b'), 'settled')
      await isUsed({ requests: 1, tokens: 2, money: 3 })
    }),
  },
)

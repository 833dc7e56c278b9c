import assert from 'node:assert/strict'
import type { SubjectKeys } from '@scoregw/quota/store'
import type { ConformanceCase } from './harness.ts'
import { MIXED } from './limits.ts'
import type { Terms } from './probe.ts'
import { casesOn, needing, type Play, type Scene } from './scene.ts'

const BOTH: SubjectKeys = { user: 'u', team: 't' }
const OWN: Terms = { subject: { user: 'u', team: null } }

/** Requests of both keys in a set. */
const asked = (set?: 'hours' | 'user' | 'daily', more: Terms = {}): Terms => ({ subject: BOTH, set, ...more })
const slot = { slot: true } as const

/** What is used of each limit: of those that are named, and 0 of the others. */
async function areUsed({ isUsed }: Scene, used: Readonly<Record<string, number>>, terms = asked()): Promise<void> {
  const none = { hour: 0, day: 0, running: 0, team: 0, requests: 0, site: 0 }
  await isUsed({ ...none, ...used }, terms)
}

/** 4 tokens and a request in all limits of tokens and requests. */
const FOUR = { tokens: 4, requests: 1 }
const FOUR_USED = { hour: 4, day: 4, team: 4, requests: 1, site: 4 }

const HOLD_CASES: Readonly<Record<string, Play>> = {
  async 'a hold has a slot only where its set counts slots'(scene) {
    const { held, hold } = scene
    await held('h', 3, asked('hours', { ...slot, limits: { running: 0 } }))
    await areUsed(scene, { hour: 3, team: 3, site: 3 })
    await held('i', 2, asked('user', slot))
    await areUsed(scene, { hour: 5, day: 2, running: 1, team: 3, site: 3 })
    assert.equal((await hold('j', 1, asked(undefined, { ...slot, limits: { running: 1 } }))).outcome, 'refused')
  },
  async 'a hold gives back where it was charged, whichever set settles it'(scene) {
    const { admit, held, settle } = scene
    await admit({ tokens: 1, requests: 1 }, asked())
    for (const set of [undefined, 'hours', 'user', 'daily'] as const) {
      await held(`commit ${set}`, { tokens: 5, requests: 1 }, asked('hours'))
      await settle(`commit ${set}`, 'committed', asked(set, { actual: 0 }))
      await held(`cancel ${set}`, { tokens: 5, requests: 1 }, asked(undefined, slot))
      await settle(`cancel ${set}`, 'cancelled', asked(set))
      await areUsed(scene, { hour: 1, day: 1, team: 1, requests: 1, site: 1 })
    }
  },
  async 'a growth is charged where its set counts it, and goes back with the hold'(scene) {
    const { held, grow, settle } = scene
    await held('h', 3, asked('hours'))
    assert.equal((await grow('h', { tokens: 2, requests: 1 }, asked('daily'))).outcome, 'held')
    await areUsed(scene, { hour: 3, day: 2, team: 3, requests: 1, site: 3 })
    assert.equal((await grow('h', 2, asked('user', { limits: { hour: 3 } }))).outcome, 'refused')
    await settle('h', 'cancelled', asked())
    await areUsed(scene, {})
  },
}

/** Cases about layers with different limits, and requests that count in some of them. */
export const SET_CASES: readonly ConformanceCase[] = [
  ...casesOn(
    { about: 'sets: ', limits: MIXED, room: 100, needs: ['sets'] },
    {
      async 'each layer has limits of its own, and one decision charges all of them'(scene) {
        const { outcome, shown, now } = await scene.take(FOUR, asked())
        const open = Object.entries(FOUR_USED).map(([name, used]) => [name, [now, used]])
        assert.deepEqual([outcome, shown], ['admitted', { running: [-1, 0], ...Object.fromEntries(open) }])
        await areUsed(scene, FOUR_USED)
      },
      async 'a limit outside of the set neither refuses nor is charged'(scene) {
        const { states, now } = await scene.admit(FOUR, asked('hours', { limits: { day: 0, requests: 0 } }))
        assert.deepEqual(states, [now, 4, -1, 0, -1, 0, now, 4, -1, 0, now, 4])
        await areUsed(scene, { hour: 4, team: 4, site: 4 })
      },
      async 'a read has the states of its set alone'({ admit, counters }) {
        await admit(FOUR, asked())
        const used = async (set: number) => {
          const { states } = await counters().read({ subject: BOTH, set, layers: [0, 1, 2] })
          return states.filter((_, index) => index % 2 === 1)
        }
        assert.deepEqual(await used(1), [4, 0, 0, 4, 0, 4])
        assert.deepEqual(await used(3), [0, 4, 0, 0, 1, 0])
      },
      async 'a settlement gives back to the limits of its set'(scene) {
        await scene.admit(FOUR, asked())
        const reply = await scene.admit({ tokens: 3, requests: 1 }, asked('hours'))
        await scene.cancel(reply, { tokens: 2, requests: 1 }, asked('hours'))
        await areUsed(scene, { ...FOUR_USED, hour: 5, team: 5, site: 5 })
      },
      async 'a reset closes these limits of a row and no others'(scene) {
        await scene.admit(FOUR, asked())
        await scene.reset(asked(), ['hour', 'requests'])
        await areUsed(scene, { ...FOUR_USED, hour: 0, requests: 0 })
      },
      async 'a subject without a key in a layer is counted in the others'(scene) {
        const { admit, reset } = scene
        await admit(FOUR, OWN)
        await areUsed(scene, { ...FOUR_USED, team: 0 })
        await reset(OWN, ['hour', 'day'])
        await areUsed(scene, { requests: 1, site: 4 })
      },
      'equal keys of different layers own different ids': needing('ids', async (scene) => {
        const { admit } = scene
        const team = { subject: { user: null, team: 'u' } }
        await admit(FOUR, { ...OWN, set: 'hours', id: 'i' })
        await admit(3, { ...team, set: 'hours', id: 'i' })
        await areUsed(scene, { hour: 4, site: 7 })
        await areUsed(scene, { team: 3, site: 7 }, { subject: { user: 'v', team: 'u' } })
      }),
      'a layer without a limit in the set has no row': needing('expiry', async ({ admit, keptForMs }) => {
        await admit(FOUR, asked('user'))
        assert.ok((await keptForMs({ layer: 'user', key: 'u' })) > 0)
        assert.equal(await keptForMs({ layer: 'team', key: 't' }), 0)
        assert.equal(await keptForMs({ layer: 'site', key: '' }), 0)
      }),
      'the row of a layer without a limit in the set is not read': needing(
        'damage',
        async ({ admit, isUsed, damage }) => {
          await admit(FOUR, asked())
          await damage({ layer: 'site', key: '' }, () => new Uint8Array([9]))
          await admit(2, asked('user'))
          await isUsed({ hour: 6, day: 6, running: 0 }, asked('user'))
        },
      ),
      'an overrun fits into the limits of the commit’s set': needing(['holds', 'fit'], async (scene) => {
        const { held, committed } = scene
        const limits = { day: 4, site: 8, requests: 2 }
        const fitting = (tokens: number, requests: number): Terms => {
          const most = { tokens: 100, requests: 100 }
          return { limits, overrun: 'fit', maxOverrun: most, actual: { tokens, requests } }
        }
        await held('h', { tokens: 3, requests: 1 }, asked('hours'))
        const [, all, less] = await committed('h', asked(undefined, fitting(20, 9)))
        assert.deepEqual(
          [all, less],
          [
            { tokens: 7, requests: 3 },
            { tokens: 13, requests: 6 },
          ],
        )
        await areUsed(scene, { hour: 7, day: 4, team: 7, requests: 2, site: 7 })
        await held('i', 1, asked('hours', { limits }))
        assert.deepEqual((await committed('i', asked('daily', fitting(2, 1))))[1], { tokens: 1, requests: 0 })
        await held('j', 1, asked('user'))
        const wider = { ...fitting(9, 0), limits: { ...limits, site: 10 } }
        assert.deepEqual((await committed('j', asked('hours', wider)))[1], { tokens: 3, requests: 0 })
      }),
    },
  ),
  ...casesOn({ about: 'sets: ', limits: MIXED, room: 100, needs: ['sets', 'holds', 'concurrency'] }, HOLD_CASES),
]

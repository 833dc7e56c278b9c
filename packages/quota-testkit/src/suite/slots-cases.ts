import assert from 'node:assert/strict'
import type { ConformanceCase, RowName } from './harness.ts'
import { DAY_MS, HOUR_MS, type Limits, MINUTE_MS, RUNNING, SITE, SLOTS, USER } from './limits.ts'
import { HOLD_MS, Probe } from './probe.ts'
import { casesOn, needing, type Play, type Scene } from './scene.ts'

const SLOT = { slot: true } as const
/** Two slots. */
const TWO = { ...SLOT, limits: { running: 2 } } as const
const ROW: RowName = { layer: 'user', key: 'u' }

/** All ways in which a hold frees its slot. */
const ENDS: Readonly<Record<string, Play>> = {
  'a commit': async ({ settle }) => void (await settle('a', 'committed')),
  'a commit of less': async ({ settle }) => void (await settle('a', 'committed', { actual: 1 })),
  'a cancel': async ({ settle }) => void (await settle('a', 'cancelled')),
  async 'its end'({ extend, advance, sweep }) {
    await extend('b', HOUR_MS)
    await advance(HOLD_MS)
    await sweep()
  },
}

/** Takes both slots. */
async function taken({ held }: Scene, ttlMs = HOLD_MS): Promise<void> {
  for (const id of ['a', 'b']) await held(id, 5, { ...TWO, ttlMs })
}

/** Asserts that all slots are taken. */
async function noneIsFree({ hold }: Scene): Promise<void> {
  assert.equal((await hold('none', 1, TWO)).outcome, 'refused')
}

/** The end of a hold, in whichever way, frees one slot. */
function frees(end: Play): Play {
  return async (scene) => {
    const { used, settle, sweep, held } = scene
    const slots = async () => (await used()).running
    await taken(scene)
    await end(scene)
    assert.equal(await slots(), 1)
    for (let again = 0; again < 3; again++) {
      await settle('a', 'committed')
      await settle('a', 'cancelled')
      await sweep()
    }
    assert.equal(await slots(), 1)
    await held('c', 1, TWO)
    await noneIsFree(scene)
  }
}

const FREE_CASES = Object.entries(ENDS).map(([what, end]) => [`${what} frees one slot once`, frees(end)] as const)

/** Cases about concurrency: slots taken in the same decision as tokens. */
export const SLOTS_CASES: readonly ConformanceCase[] = casesOn(
  { about: 'slots: ', limits: SLOTS, room: 100, needs: ['holds', 'concurrency'] },
  {
    async 'a refusal for lack of slots charges and opens no window and leaves no record'({ hold, held, read, isAt }) {
      assert.equal((await hold('a', 3, { ...SLOT, limits: { running: 0 } })).outcome, 'refused')
      await isAt([-1, 0])
      await held('a', 3, { ...SLOT, nonce: 'another', fingerprint: 'read:2' })
      const { own, running } = (await read()).shown
      assert.deepEqual([own?.[1], running?.[1]], [3, 1])
    },
    async 'a request without a slot leaves slots unchanged'(scene) {
      const { admit, held, settle, isUsed } = scene
      await taken(scene)
      await admit(1)
      await held('c', 1, { limits: { running: 0 } })
      await settle('c', 'cancelled')
      await isUsed({ own: 11, running: 2 })
    },
    'a repeated hold shows no window ahead of a clock that stepped back': needing(
      'clock-steps',
      async ({ admit, held, stepClock }) => {
        await admit(1)
        await stepClock(-MINUTE_MS)
        const { states } = await held('a', 0, SLOT)
        assert.deepEqual((await held('a', 0, SLOT)).states, states)
      },
    ),
    ...Object.fromEntries(FREE_CASES),
    async 'a reset closes windows and keeps slots'(scene) {
      const { reset, isUsed, settle, held } = scene
      await taken(scene)
      await reset()
      await isUsed({ own: 0, running: 2 })
      await noneIsFree(scene)
      await settle('a', 'committed')
      await held('c', 1, TWO)
      await settle('b', 'cancelled')
      await isUsed({ own: 1, running: 1 })
    },
    async 'a slot stays taken, however long ago the windows ended'(scene) {
      const { advance, sweep, isUsed, extend, held, settle } = scene
      await taken(scene, 20 * HOUR_MS)
      await advance(10 * HOUR_MS)
      await sweep()
      await isUsed({ own: 0, running: 2 })
      await noneIsFree(scene)
      await extend('a', DAY_MS)
      await advance(23 * HOUR_MS)
      await sweep()
      await isUsed({ own: 0, running: 1 })
      await held('c', 1, TWO)
      await isUsed({ own: 1, running: 2 }, {}, 'beside one that was taken long ago')
      await noneIsFree(scene)
      await settle('a', 'committed')
      await isUsed({ own: 1, running: 1 })
    },
    'a row is kept at least as long as a hold has a slot in it': needing('expiry', async (scene) => {
      const { held, extend, admit, reset, keptForMs, advance } = scene
      await held('a', 5, { ...TWO, ttlMs: 20 * HOUR_MS })
      await advance(HOUR_MS)
      await extend('a', DAY_MS)
      assert.ok((await keptForMs(ROW)) >= DAY_MS, 'an extension keeps it longer')
      await admit(1)
      await reset()
      await held('b', 5, TWO)
      assert.ok((await keptForMs(ROW)) >= DAY_MS, 'and nothing keeps it shorter')
    }),
    "a slot of a lost row isn't freed in the row that replaced it": needing('damage', async (scene) => {
      const { held, settle, reset, isUsed, advance, damage } = scene
      await held('a', 5, TWO)
      await damage(ROW, (bytes) => bytes.slice(0, -1))
      await reset()
      await advance(1)
      await held('b', 5, TWO)
      await settle('a', 'cancelled')
      await isUsed({ own: 5, running: 1 })
    }),
    'slots of a shared layer add up over subjects, and one layer without any refuses': needing(
      'shared-concurrency',
      async ({ store }) => {
        const limits: Limits['limits'] = { running: [USER, RUNNING], all: [SITE, RUNNING] }
        const { hold, held, settle, isUsed } = new Probe(store, { limits }, { running: 2, all: 3 })
        for (const subject of ['u', 'v', 'w']) await held('a', 1, { ...SLOT, subject })
        assert.equal((await hold('a', 1, { ...SLOT, subject: 'x' })).outcome, 'refused')
        await isUsed({ running: 0, all: 3 }, { subject: 'x' })
        await settle('a', 'cancelled', { subject: 'v' })
        await held('b', 1, SLOT)
        await settle('a', 'cancelled', { subject: 'w' })
        assert.equal((await hold('c', 1, SLOT)).outcome, 'refused')
        await isUsed({ running: 2, all: 2 })
        await held('a', 1, { ...SLOT, subject: 'x' })
      },
    ),
  },
)

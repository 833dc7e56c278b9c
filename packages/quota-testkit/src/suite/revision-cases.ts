import assert from 'node:assert/strict'
import { newRevision } from '@scoregw/quota/store'
import type { ConformanceCase } from './harness.ts'
import { SHARED } from './limits.ts'
import { HOLD_MS } from './probe.ts'
import { casesOn, needing, type Scene } from './scene.ts'

/** Asserts that a request with a revision is stale, which revision the store reports, and that nothing was charged. */
async function isStale({ take, read, isAt }: Scene, settingsRevision: string, stored: string): Promise<void> {
  const { shown } = await read()
  const reply = await take(1, { settingsRevision })
  assert.deepEqual([reply.outcome, reply.settingsRevision, [...reply.states]], ['stale', stored, []])
  await isAt(shown, {}, 'a stale request charges nothing')
}

const [FIRST, SECOND] = ['aaaaaaaaaaaaaaaaaaaaa1', 'aaaaaaaaaaaaaaaaaaaaa2']

/** Cases about settings that change while a request is in flight. */
export const REVISION_CASES: readonly ConformanceCase[] = casesOn(
  { limits: SHARED, room: 100, needs: ['revisions'] },
  {
    async 'every revision except the stored one is stale, whatever its order'(scene) {
      const { admit, peer, storeRevision } = scene
      for (const settingsRevision of [FIRST, SECOND, FIRST, newRevision()]) {
        await storeRevision(settingsRevision)
        await admit(1, { settingsRevision })
        await admit(1, { settingsRevision, store: peer })
        for (const other of ['', settingsRevision === SECOND ? FIRST : SECOND, newRevision()])
          await isStale(scene, other, settingsRevision)
      }
    },
    async 'settings that were never stored, or lost, have the empty revision'(scene) {
      const { admit, storeRevision } = scene
      await admit(1, { settingsRevision: '' })
      await isStale(scene, FIRST, '')
      await storeRevision(FIRST)
      await admit(1, { settingsRevision: FIRST })
      await storeRevision('')
      await isStale(scene, FIRST, '')
      await admit(1, { settingsRevision: '' })
    },
    async 'of concurrent requests, only those with another revision are stale'({ take, isUsed, storeRevision }) {
      await storeRevision(FIRST)
      const replies = await Promise.all(
        [FIRST, SECOND, '', FIRST, undefined, SECOND].map((settingsRevision) => take(1, { settingsRevision })),
      )
      const outcomes = replies.map(({ outcome }) => outcome)
      // Without shared settings, an engine's requests have no revision.
      assert.deepEqual(outcomes, ['admitted', 'stale', 'stale', 'admitted', 'admitted', 'stale'])
      await isUsed(3)
    },
    "a stale request doesn't use up its id": needing('ids', async ({ take, admit, storeRevision }) => {
      await storeRevision(FIRST)
      assert.equal((await take(1, { id: 'attempt', settingsRevision: SECOND })).outcome, 'stale')
      await admit(1, { id: 'attempt', nonce: 'other', fingerprint: 'another:2', settingsRevision: FIRST })
    }),
    'a growth under other settings is stale and charges nothing': needing('holds', async (scene) => {
      const { held, hold, grow, committed, isUsed, list, advance, storeRevision } = scene
      await storeRevision(SECOND)
      const { now } = await held('a', 2, { settingsRevision: SECOND })
      await advance(1)
      const reply = await grow('a', 1, { settingsRevision: FIRST })
      assert.deepEqual([reply.outcome, reply.settingsRevision], ['stale', SECOND])
      await isUsed(2)
      assert.equal((await list())[0]?.endsAt, now + HOLD_MS)
      assert.equal((await grow('a', 1, { settingsRevision: SECOND })).outcome, 'held')
      assert.equal((await hold('b', 1, { settingsRevision: FIRST })).outcome, 'stale')
      assert.deepEqual(await committed('a', { settingsRevision: FIRST }), ['settled', 3, 0, 3])
    }),
  },
)

import assert from 'node:assert/strict'
import { newRevision } from '@scoregw/quota/store'
import type { CaseContext } from './harness.ts'
import type { ContextCase } from './old-case.ts'
import { idOf, Probe, SIX_WINDOWS } from './probe.ts'

/** Stores without revisions must never report a request as stale. */
async function neverStale({ store }: CaseContext): Promise<void> {
  const probe = new Probe(store, SIX_WINDOWS, 10)
  for (const settingsRevision of [undefined, '', newRevision()]) {
    await probe.admitted(1, settingsRevision === undefined ? {} : { settingsRevision })
  }
  assert.deepEqual(await probe.used(), [3, 3, 3, 3, 3, 3])
}

function revisionCase(name: string, run: (context: CaseContext) => Promise<void>): ContextCase {
  return { name, needs: 'revisions', run, without: neverStale }
}

/** Asserts that a request with a revision is stale, which revision the store reports, and that nothing was charged. */
async function isStale(probe: Probe, settingsRevision: string, stored: string): Promise<void> {
  const before = await probe.states()
  const reply = await probe.take(1, { settingsRevision })
  assert.deepEqual([reply.outcome, reply.settingsRevision], ['stale', stored])
  assert.deepEqual([...reply.states], [])
  assert.deepEqual(await probe.states(), before, 'a stale request charges nothing')
}

const [FIRST, SECOND] = ['aaaaaaaaaaaaaaaaaaaaa1', 'aaaaaaaaaaaaaaaaaaaaa2']

/** Cases about settings that change while a request is in flight. */
export const REVISION_CASES: readonly ContextCase[] = [
  revisionCase('without stored settings, only a request with a revision is stale', async ({ store }) => {
    const probe = new Probe(store, SIX_WINDOWS, 10)
    await probe.admitted(1, { settingsRevision: '' })
    await isStale(probe, FIRST, '')
    await probe.admitted(1)
  }),
  revisionCase('every revision except the stored one is stale, whatever its order', async (context) => {
    const { store, peer, storeRevision } = context
    const probe = new Probe(store, SIX_WINDOWS, 10)
    for (const stored of [FIRST, SECOND, FIRST, newRevision()]) {
      await storeRevision(stored)
      await probe.admitted(1, { settingsRevision: stored })
      await probe.admitted(1, { settingsRevision: stored, store: peer })
      for (const other of ['', stored === SECOND ? FIRST : SECOND, newRevision()]) await isStale(probe, other, stored)
    }
  }),
  revisionCase('lost settings count as no stored settings', async ({ store, storeRevision }) => {
    const probe = new Probe(store, SIX_WINDOWS, 10)
    await storeRevision(FIRST)
    await probe.admitted(1, { settingsRevision: FIRST })
    await storeRevision('')
    await isStale(probe, FIRST, '')
    await probe.admitted(1, { settingsRevision: '' })
  }),
  revisionCase('a request of an engine without shared settings is never stale', async ({ store, storeRevision }) => {
    const probe = new Probe(store, SIX_WINDOWS, 10)
    for (const stored of [FIRST, SECOND, '']) {
      await storeRevision(stored)
      await probe.admitted(1)
    }
    assert.deepEqual(await probe.used(), [3, 3, 3, 3, 3, 3])
  }),
  revisionCase('of concurrent requests, only those with another revision are stale', async (context) => {
    const { store, storeRevision } = context
    const probe = new Probe(store, SIX_WINDOWS, 100)
    await storeRevision(FIRST)
    const replies = await Promise.all(
      [FIRST, SECOND, '', FIRST, undefined, SECOND].map((settingsRevision) =>
        probe.take(1, settingsRevision === undefined ? {} : { settingsRevision }),
      ),
    )
    const expected = ['admitted', 'stale', 'stale', 'admitted', 'admitted', 'stale']
    assert.deepEqual(
      replies.map(({ outcome }) => outcome),
      expected,
    )
    assert.deepEqual(await probe.used(), [3, 3, 3, 3, 3, 3])
  }),
  revisionCase("a stale request doesn't use up its id", async ({ store, capabilities, storeRevision }) => {
    const probe = new Probe(store, SIX_WINDOWS, 10)
    await storeRevision(FIRST)
    const options = capabilities.includes('ids') ? { id: idOf('attempt') } : {}
    assert.equal((await probe.take(1, { ...options, settingsRevision: SECOND })).outcome, 'stale')
    const other = capabilities.includes('ids') ? { id: idOf('attempt', 'other', 'another:2') } : {}
    await probe.admitted(1, { ...other, settingsRevision: FIRST })
  }),
]

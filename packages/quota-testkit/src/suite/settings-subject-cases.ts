import assert from 'node:assert/strict'
import { plainCase } from './port-harness.ts'
import type { SettingsCase } from './settings-harness.ts'
import { FIRST, isStored, nothingIsStored, SECOND, subjectWritten, written } from './settings-harness.ts'
import { STRANGE_TEXTS } from './subject-cases.ts'

const USER = ['personal', 'u'] as const

/** Layers and keys that a careless encoding would confuse. */
const NAMES: readonly (readonly [layer: string, key: string])[] = [
  ['team', 'a'],
  ['personal-a', 'b'],
  ['personal', 'a-b'],
  ['constructor', 'toString'],
  ...STRANGE_TEXTS.map((text) => ['personal', text] as const),
]

/** Cases about the documents of single subjects. */
export const SETTINGS_SUBJECT_CASES: readonly SettingsCase[] = [
  plainCase('settings: a subject has its own document, versions and revisions', async ({ store, peer }) => {
    await written(store, FIRST)
    const first = await subjectWritten(store, USER, SECOND, { ifRevision: '' })
    assert.equal(first.version, 1)
    const second = await subjectWritten(peer, USER, FIRST, { ifRevision: first.revision })
    assert.equal(second.version, 2)
    const { version, revision } = second
    assert.deepEqual({ ...(await store.readSubject(...USER)) }, { document: FIRST, version, revision })
    assert.deepEqual(await store.writeSubject(...USER, SECOND, { ifRevision: first.revision }), {
      written: false,
      version,
      revision,
    })
    assert.equal((await store.read())?.version, 1)
  }),
  plainCase('settings: any text can be a subject, and no two subjects share a document', async ({ store, peer }) => {
    for (const [index, name] of NAMES.entries()) await subjectWritten(store, name, { index }, { ifRevision: '' })
    for (const [index, [layer, key]] of NAMES.entries()) {
      const stored = await peer.readSubject(layer, key)
      assert.deepEqual(stored?.document, { index }, `${layer} ${JSON.stringify(key)}`)
      assert.equal(stored?.version, 1)
    }
    assert.equal(await peer.readSubject('personal', 'nobody'), undefined)
    assert.equal(await peer.read(), undefined)
  }),
  plainCase('settings: a removed subject has no document, and its versions continue', async ({ store, peer }) => {
    const first = await subjectWritten(store, USER, FIRST)
    const removed = await peer.writeSubject(...USER, null, { ifRevision: first.revision })
    assert.deepEqual(removed, { written: true, version: 0, revision: '' })
    await nothingIsStored(store)
    const late = await store.writeSubject(...USER, SECOND, { ifRevision: first.revision })
    assert.deepEqual(late, { written: false, version: 0, revision: '' })
    const again = await subjectWritten(store, USER, FIRST, { ifRevision: '' })
    assert.ok(again.version > first.version, `version ${again.version} after ${first.version}`)
    assert.notEqual(again.revision, first.revision)
  }),
  plainCase('settings: a removal over another revision is rejected', async ({ store, peer }) => {
    const first = await subjectWritten(store, USER, FIRST)
    for (const ifRevision of ['', 'never given']) {
      const reply = await peer.writeSubject(...USER, null, { ifRevision })
      assert.deepEqual(reply, { ...first, written: false })
    }
    assert.deepEqual((await store.readSubject(...USER))?.document, FIRST)
    const nobody = await peer.writeSubject('personal', 'nobody', null, { ifRevision: first.revision })
    assert.deepEqual(nobody, { written: false, version: 0, revision: '' })
  }),
  plainCase('settings: one of many concurrent writers of a subject succeeds', async ({ store, peer }) => {
    const replies = await Promise.all(
      Array.from({ length: 20 }, async (_, index) =>
        (index % 2 === 0 ? store : peer).writeSubject(...USER, { index }, { ifRevision: '' }),
      ),
    )
    assert.equal(replies.filter((reply) => reply.written).length, 1)
    const index = replies.findIndex((reply) => reply.written)
    assert.deepEqual((await store.readSubject(...USER))?.document, { index })
  }),
  plainCase('settings: a write for a subject leaves the general settings unchanged', async ({ store, peer }) => {
    const reply = await written(store, FIRST)
    await subjectWritten(peer, USER, SECOND)
    await peer.writeSubject(...USER, null, {})
    await isStored(store, FIRST, reply)
  }),
]

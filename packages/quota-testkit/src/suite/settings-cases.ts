import assert from 'node:assert/strict'
import type { SettingsChange, SettingsStore } from '@scoregw/quota/store'
import type { SettingsCase } from './harness.ts'
import { SETTINGS_FAULT_CASES } from './settings-fault-cases.ts'
import {
  FIRST,
  isAboutSettings,
  isStored,
  Notifications,
  nothingIsStored,
  SECOND,
  settingsCases,
  USER,
  userWritten,
  written,
} from './settings-scene.ts'
import { STRANGE_TEXTS } from './subject-cases.ts'
import { soon, watchCases } from './watch-cases.ts'

const KEY = 'u:"\u00e9'

/** Documents with all shapes of JSON. Stores must keep them unread. */
const DOCUMENTS: readonly unknown[] = [
  FIRST,
  {},
  [],
  [1, [2, [3, null]]],
  'text',
  '',
  0,
  -1.5e300,
  Number.MAX_SAFE_INTEGER,
  true,
  false,
  { a: { b: { c: [{}, [], null, false, 0, ''] } } },
  { '': 1, ' ': 2, 'a.b': 3, $set: { x: 1 }, 'a:b': '\n"\\/' },
  JSON.parse('{"__proto__":{"polluted":true},"constructor":null}'),
  { text: '用户 \u00e9 e\u0301 \u{1f600} \u2028' },
  { long: 'x'.repeat(100_000) },
]

/** Layers and keys that a careless encoding would confuse. */
const NAMES: readonly (readonly [layer: string, key: string])[] = [
  ['team', 'a'],
  ['personal-a', 'b'],
  ['personal', 'a-b'],
  ['constructor', 'toString'],
  ...STRANGE_TEXTS.map((text) => ['personal', text] as const),
]

const DOCUMENT_CASES = settingsCases({
  async 'a new store holds nothing'({ store, peer }) {
    await nothingIsStored(store)
    await nothingIsStored(peer)
  },
  async 'answers are values or promises as the store declares'({ store }) {
    const answers: unknown[] = [store.read(), store.readSubject(...USER), store.write(FIRST, {})]
    for (const answer of answers) {
      const isAwaited = typeof (answer as { then?: unknown } | undefined)?.then === 'function'
      assert.equal(isAwaited, !store.sync)
    }
    await Promise.all(answers)
    assert.equal(typeof store.isMarked, 'boolean')
  },
  async 'any document is read as it was written, by every process'({ store, peer }) {
    for (const [turn, document] of DOCUMENTS.entries()) {
      const reply = await written(turn % 2 === 0 ? store : peer, document)
      await isStored(peer, document, reply)
      await isStored(store, document, reply)
    }
  },
  async 'versions count every process’s writes over anything, and revisions are unique'({ store, peer }) {
    const revisions = ['', (await userWritten(store, FIRST)).revision]
    for (const [index, writer] of [store, peer, peer, store, peer].entries()) {
      const { version, revision } = await written(writer, FIRST, { by: 'somebody' })
      assert.equal(version, index + 1)
      revisions.push(revision)
    }
    const other = await peer.writeSubject('personal', 'v', FIRST, {})
    assert.equal(new Set([...revisions, other.revision]).size, 8)
  },
})

const COMPARE_CASES = settingsCases({
  async 'a write over another revision is rejected with the stored one'({ store, peer }) {
    const first = await written(store, FIRST)
    const second = await written(peer, SECOND)
    for (const ifRevision of ['', first.revision, 'never given', `${second.revision} `, second.revision.slice(1)]) {
      const reply = await store.write(FIRST, { ifRevision })
      assert.deepEqual(reply, { ...second, written: false }, `over "${ifRevision}"`)
    }
    await isStored(peer, SECOND, second)
    const third = await written(store, FIRST, { ifRevision: second.revision })
    await isStored(peer, FIRST, third)
  },
  async 'a write that expects nothing succeeds only if nothing is stored'({ store, peer }) {
    const early = await store.write(FIRST, { ifRevision: 'never given' })
    assert.deepEqual(early, { written: false, version: 0, revision: '' })
    await nothingIsStored(peer)
    const first = await written(store, FIRST, { ifRevision: '' })
    assert.deepEqual(await peer.write(SECOND, { ifRevision: '' }), { ...first, written: false })
    await isStored(store, FIRST, first)
  },
  async 'one of many concurrent writers succeeds'({ store, peer }) {
    let ifRevision = ''
    for (const round of [1, 2, 3]) {
      const replies = await Promise.all(
        Array.from({ length: 20 }, async (_, index) =>
          (index % 2 === 0 ? store : peer).write({ round, index }, { ifRevision }),
        ),
      )
      const winners = replies.flatMap((reply, index) => (reply.written ? [index] : []))
      assert.equal(winners.length, 1, `${winners.length} of 20 wrote in round ${round}`)
      const [index = 0] = winners
      await isStored(store, { round, index }, replies[index])
      ifRevision = replies[index]?.revision ?? ''
    }
  },
})

/** Cases about the documents of single subjects. */
const SUBJECT_CASES = settingsCases({
  async 'a subject has its own document, versions and revisions'({ store, peer }) {
    const general = await written(store, FIRST)
    const first = await userWritten(store, SECOND, { ifRevision: '' })
    assert.equal(first.version, 1)
    const { version, revision } = await userWritten(peer, FIRST, { ifRevision: first.revision })
    assert.equal(version, 2)
    assert.deepEqual({ ...(await store.readSubject(...USER)) }, { document: FIRST, version, revision })
    const late = await store.writeSubject(...USER, SECOND, { ifRevision: first.revision })
    assert.deepEqual(late, { written: false, version, revision })
    await peer.writeSubject(...USER, null, {})
    await isStored(store, FIRST, general)
  },
  async 'any text can be a subject, and no two subjects share a document'({ store, peer }) {
    for (const [index, [layer, key]] of NAMES.entries())
      assert.ok((await store.writeSubject(layer, key, { index }, { ifRevision: '' })).written)
    for (const [index, [layer, key]] of NAMES.entries()) {
      const stored = await peer.readSubject(layer, key)
      assert.deepEqual([stored?.document, stored?.version], [{ index }, 1], `${layer} ${JSON.stringify(key)}`)
    }
    assert.equal(await peer.readSubject('personal', 'nobody'), undefined)
    assert.equal(await peer.read(), undefined)
  },
  async 'a removed subject has no document, and its versions continue'({ store, peer }) {
    const nothing = { version: 0, revision: '' }
    const first = await userWritten(store, FIRST)
    const removed = await peer.writeSubject(...USER, null, { ifRevision: first.revision })
    assert.deepEqual(removed, { written: true, ...nothing })
    await nothingIsStored(store)
    const late = await store.writeSubject(...USER, SECOND, { ifRevision: first.revision })
    assert.deepEqual(late, { written: false, ...nothing })
    const again = await userWritten(store, FIRST, { ifRevision: '' })
    assert.ok(again.version > first.version, `version ${again.version} after ${first.version}`)
    assert.notEqual(again.revision, first.revision)
  },
  async 'a removal over another revision is rejected'({ store, peer }) {
    const first = await userWritten(store, FIRST)
    for (const ifRevision of ['', 'never given']) {
      const reply = await peer.writeSubject(...USER, null, { ifRevision })
      assert.deepEqual(reply, { ...first, written: false })
    }
    assert.deepEqual((await store.readSubject(...USER))?.document, FIRST)
    const nobody = await peer.writeSubject('personal', 'nobody', null, { ifRevision: first.revision })
    assert.deepEqual(nobody, { written: false, version: 0, revision: '' })
  },
  async 'one of many concurrent writers of a subject succeeds'({ store, peer }) {
    const replies = await Promise.all(
      Array.from({ length: 20 }, async (_, index) =>
        (index % 2 === 0 ? store : peer).writeSubject(...USER, { index }, { ifRevision: '' }),
      ),
    )
    assert.equal(replies.filter((reply) => reply.written).length, 1)
    const index = replies.findIndex((reply) => reply.written)
    assert.deepEqual((await store.readSubject(...USER))?.document, { index })
  },
})

/** Cases about notifications of changes. */
const WATCH_CASES: readonly SettingsCase[] = [
  ...watchCases<SettingsStore>('settings', {
    watch: (store, listener) => store.watch(listener),
    write: async (store, writes) => void (await written(store, { writes })),
    version: async (store) => (await store.read())?.version,
  }),
  ...settingsCases({
    async 'notifications say what changed'(context) {
      const listeners = new Notifications(context)
      const isAboutKey = (change: SettingsChange): boolean =>
        change.kind === 'everything' || (change.kind === 'subject' && change.layer === 'personal' && change.key === KEY)
      for (const writer of [context.store, context.peer, context.peer]) {
        const writeKey = (document: unknown) => () => writer.writeSubject('personal', KEY, document, {})
        await listeners.both('a change of the settings is reported', isAboutSettings, () => written(writer, FIRST))
        await listeners.both('a change of a subject is reported', isAboutKey, writeKey(SECOND))
        await listeners.both('a removal is reported', isAboutKey, writeKey(null))
      }
      listeners.stop()
    },
    async 'a rejected write causes no notification'({ store, peer }) {
      await written(store, FIRST)
      let notified = 0
      const stop = store.watch((change) => {
        if (isAboutSettings(change)) notified++
      })
      const before = await store.read()
      await peer.write(SECOND, { ifRevision: 'never given' })
      await store.write(SECOND, { ifRevision: 'never given' })
      assert.deepEqual(await store.read(), before)
      await written(peer, SECOND)
      await soon('a change after it is reported', () => notified > 0)
      stop()
    },
  }),
]

/** All cases for a settings store. */
export const SETTINGS_STORE_CASES: readonly SettingsCase[] = [
  ...DOCUMENT_CASES,
  ...COMPARE_CASES,
  ...SUBJECT_CASES,
  ...WATCH_CASES,
  ...SETTINGS_FAULT_CASES,
]

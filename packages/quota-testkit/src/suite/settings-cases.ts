import assert from 'node:assert/strict'
import type { SettingsChange, SettingsStore } from '@scoregw/quota/store'
import { plainCase, soon, watchCases } from './port-harness.ts'
import { SETTINGS_FAULT_CASES } from './settings-fault-cases.ts'
import type { SettingsCase } from './settings-harness.ts'
import {
  FIRST,
  isAboutSettings,
  isAboutSubject,
  isStored,
  Notifications,
  nothingIsStored,
  SECOND,
  subjectWritten,
  written,
} from './settings-harness.ts'
import { SETTINGS_SUBJECT_CASES } from './settings-subject-cases.ts'

const KEY = 'u:"\u00e9'

/** Cases about notifications of changes. */
const SETTINGS_WATCH_CASES: readonly SettingsCase[] = [
  ...watchCases<SettingsStore>('settings', {
    watch: (store, listener) => store.watch(listener),
    write: async (store, writes) => void (await written(store, { writes })),
    version: async (store) => (await store.read())?.version,
  }),
  plainCase('settings: notifications say what changed', async ({ store, peer }) => {
    const listeners = new Notifications({ store, peer })
    const isAboutKey = (change: SettingsChange): boolean => isAboutSubject(change, 'personal', KEY)
    for (const writer of [store, peer, peer]) {
      listeners.clear()
      await written(writer, FIRST)
      await listeners.bothReceive('a change of the settings is reported', isAboutSettings)
      listeners.clear()
      await subjectWritten(writer, ['personal', KEY], SECOND)
      await listeners.bothReceive('a change of a subject is reported', isAboutKey)
      listeners.clear()
      await writer.writeSubject('personal', KEY, null, {})
      await listeners.bothReceive('a removal is reported', isAboutKey)
    }
    listeners.stop()
  }),
  plainCase('settings: a rejected write causes no notification', async ({ store, peer }) => {
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
  }),
]

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

const DOCUMENT_CASES: readonly SettingsCase[] = [
  plainCase('settings: a new store holds nothing', async ({ store, peer }) => {
    await nothingIsStored(store)
    await nothingIsStored(peer)
  }),
  plainCase('settings: answers are values or promises as the store declares', async ({ store }) => {
    const answers = [store.read(), store.readSubject('personal', 'u'), store.write(FIRST, {})]
    for (const answer of answers) {
      const isAwaited = typeof (answer as { then?: unknown } | undefined)?.then === 'function'
      assert.equal(isAwaited, !store.sync)
    }
    await Promise.all(answers)
    assert.equal(typeof store.isMarked, 'boolean')
  }),
  plainCase('settings: any document is read as it was written', async ({ store, peer }) => {
    for (const document of DOCUMENTS) {
      const reply = await written(store, document)
      await isStored(peer, document, reply)
      await isStored(store, document, reply)
    }
  }),
  plainCase('settings: versions count every process’s writes, and revisions are unique', async ({ store, peer }) => {
    const revisions = new Set([''])
    for (const [index, writer] of [store, peer, peer, store, peer].entries()) {
      const { version, revision } = await written(writer, FIRST)
      assert.equal(version, index + 1)
      assert.equal(revisions.has(revision), false, `the revision "${revision}" of write ${index + 1} is not new`)
      revisions.add(revision)
    }
  }),
  plainCase('settings: revisions of two documents are always different', async ({ store, peer }) => {
    const [one, other] = [await written(store, FIRST), await store.writeSubject('personal', 'u', FIRST, {})]
    const third = await peer.writeSubject('personal', 'v', FIRST, {})
    assert.equal(new Set([one.revision, other.revision, third.revision]).size, 3)
  }),
]

const COMPARE_CASES: readonly SettingsCase[] = [
  plainCase('settings: a write over another revision is rejected with the stored one', async ({ store, peer }) => {
    const first = await written(store, FIRST)
    const second = await written(peer, SECOND)
    for (const ifRevision of ['', first.revision, 'never given', `${second.revision} `, second.revision.slice(1)]) {
      const reply = await store.write(FIRST, { ifRevision })
      assert.deepEqual(reply, { ...second, written: false }, `over "${ifRevision}"`)
    }
    await isStored(peer, SECOND, second)
    const third = await written(store, FIRST, { ifRevision: second.revision })
    await isStored(peer, FIRST, third)
  }),
  plainCase('settings: a write that expects nothing succeeds only if nothing is stored', async ({ store, peer }) => {
    const early = await store.write(FIRST, { ifRevision: 'never given' })
    assert.deepEqual(early, { written: false, version: 0, revision: '' })
    await nothingIsStored(peer)
    const first = await written(store, FIRST, { ifRevision: '' })
    assert.deepEqual(await peer.write(SECOND, { ifRevision: '' }), { ...first, written: false })
    await isStored(store, FIRST, first)
  }),
  plainCase('settings: a write without a revision overwrites anything', async ({ store, peer }) => {
    await written(store, FIRST)
    const second = await written(peer, SECOND, { by: 'somebody' })
    await isStored(store, SECOND, second)
  }),
  plainCase('settings: one of many concurrent writers succeeds', async ({ store, peer }) => {
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
  }),
  plainCase('settings: every later read, also in another process, returns a write', async ({ store, peer }) => {
    for (let turn = 0; turn < 20; turn++) {
      const [writer, reader] = turn % 2 === 0 ? [store, peer] : [peer, store]
      const reply = await written(writer, { turn })
      await isStored(reader, { turn }, reply)
    }
  }),
]

/** All cases for a settings store. */
export const SETTINGS_STORE_CASES: readonly SettingsCase[] = [
  ...DOCUMENT_CASES,
  ...COMPARE_CASES,
  ...SETTINGS_SUBJECT_CASES,
  ...SETTINGS_WATCH_CASES,
  ...SETTINGS_FAULT_CASES,
]

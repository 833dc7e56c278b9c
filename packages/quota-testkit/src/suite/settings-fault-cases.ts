import assert from 'node:assert/strict'
import { createQuota, type Quota } from '@scoregw/quota'
import { scoreGatewayPolicy } from '@scoregw/quota/score-gateway'
import type { SettingsChange, SettingsStore } from '@scoregw/quota/store'
import { soon } from './port-harness.ts'
import type { SettingsCase, SettingsContext } from './settings-harness.ts'
import {
  FIRST,
  isAboutSettings,
  isStored,
  Notifications,
  nothingIsStored,
  SECOND,
  subjectWritten,
  written,
} from './settings-harness.ts'

const USER = ['personal', 'u'] as const

/** For stores that don't lose data: unknown revisions are rejected, and nothing is lost. */
async function keeps({ store, peer }: SettingsContext): Promise<void> {
  const first = await written(store, FIRST)
  const second = await written(peer, SECOND)
  assert.equal((await store.write(FIRST, { ifRevision: first.revision })).written, false)
  await isStored(store, SECOND, second)
}

/** Whether mode `lenient` is in force. */
async function isLenient(quota: Quota): Promise<boolean> {
  return (await quota.status('u')).limits['personal-read-1h']?.limit === 180
}

function engineOn(settingsStore: SettingsStore): Quota {
  return createQuota({ policy: scoreGatewayPolicy(), settingsStore })
}

/** Cases about stores that lose data, and processes that crash halfway. */
export const SETTINGS_FAULT_CASES: readonly SettingsCase[] = [
  {
    name: 'settings: lost data counts as not stored, and every process is notified within a second',
    needs: 'loss',
    async run(context) {
      const { store, peer, loseData } = context
      const before = await written(store, FIRST)
      await subjectWritten(store, USER, FIRST)
      const listeners = new Notifications(context)
      await written(peer, SECOND)
      await listeners.bothReceive('the change is reported', isAboutSettings)
      listeners.clear()
      await loseData()
      await listeners.bothReceive('the loss is reported', isAboutSettings)
      for (const each of [store, peer]) await nothingIsStored(each)
      assert.equal((await store.write(SECOND, { ifRevision: before.revision })).written, false)
      listeners.clear()
      const after = await written(peer, SECOND, { ifRevision: '' })
      await listeners.bothReceive('the first write after it is reported', isAboutSettings)
      assert.equal(after.version, 1)
      for (const each of [store, peer]) await isStored(each, SECOND, after)
      listeners.stop()
    },
    without: keeps,
  },
  {
    name: 'settings: an old revision can’t overwrite a document written after a loss, even at an equal version',
    needs: 'loss',
    async run({ store, peer, loseData }) {
      const before = await written(store, FIRST)
      await loseData()
      const after = await written(peer, SECOND)
      assert.deepEqual([before.version, after.version], [1, 1])
      assert.notEqual(before.revision, after.revision)
      assert.deepEqual(await store.write(FIRST, { ifRevision: before.revision }), { ...after, written: false })
      await isStored(store, SECOND, after)
    },
    without: keeps,
  },
  {
    name: 'settings: a restored older state applies, and every process is notified within a second',
    needs: 'backup',
    async run(context) {
      const { store, peer, backup, restore } = context
      const old = await written(store, FIRST)
      await subjectWritten(store, USER, FIRST)
      await backup()
      const listeners = new Notifications(context)
      const lost = await written(peer, SECOND)
      await listeners.bothReceive('the change is reported', isAboutSettings)
      listeners.clear()
      await restore()
      await listeners.bothReceive('the older state is reported', isAboutSettings)
      for (const each of [store, peer]) await isStored(each, FIRST, old)
      assert.equal((await store.write(SECOND, { ifRevision: lost.revision })).written, false)
      const next = await written(peer, SECOND, { ifRevision: old.revision })
      assert.equal(next.version, lost.version)
      assert.notEqual(next.revision, lost.revision)
      assert.deepEqual((await peer.readSubject(...USER))?.document, FIRST)
      listeners.stop()
    },
    without: keeps,
  },
  {
    name: 'settings: engines follow stored settings within a second, even lost or restored ones',
    needs: 'backup',
    async run({ store, peer, capabilities, backup, restore, loseData }) {
      const engines = [engineOn(store), engineOn(peer)] as const
      await Promise.all(engines.map((quota) => quota.ready()))
      const follow = (what: string, lenient: boolean): Promise<void> =>
        soon(what, async () => (await Promise.all(engines.map(isLenient))).every((is) => is === lenient))
      await engines[0].settings.update({ mode: 'lenient' })
      await follow('a change', true)
      await backup()
      await engines[1].settings.update({ mode: 'normal' })
      await follow('the next change', false)
      await restore()
      await follow('an older state', true)
      if (capabilities.includes('loss')) {
        await loseData()
        await follow('the policy alone', false)
        await engines[0].settings.update({ mode: 'lenient' })
        await follow('the first change after it', true)
      }
    },
    async without({ store, peer }) {
      const engines = [engineOn(store), engineOn(peer)] as const
      await engines[1].ready()
      await engines[0].settings.update({ mode: 'lenient' })
      for (const quota of engines) await soon('a change is followed', () => isLenient(quota))
    },
  },
  {
    name: 'settings: a write whose process died before its notification is reported within a second',
    needs: 'announcer',
    async run({ store, peer, killAnnouncer, announced }) {
      const first = await written(store, FIRST)
      assert.equal(await announced(), first.revision)
      const notified: SettingsChange[] = []
      const stop = peer.watch((change) => notified.push(change))
      await killAnnouncer()
      await Promise.resolve(store.write(SECOND, {})).catch(() => undefined)
      await soon('the write is reported', () => notified.some(isAboutSettings))
      const stored = await peer.read()
      assert.deepEqual(stored?.document, SECOND)
      await peer.reannounce?.(stored?.revision ?? '', await announced())
      assert.equal(await announced(), stored?.revision, 'the counters know what is stored')
      stop()
    },
    async without({ store }) {
      assert.equal(store.reannounce, undefined, 'a store that announces nothing has nothing to announce again')
    },
  },
  {
    name: 'settings: an announcement is repeated only over the revision that was seen',
    needs: 'announcer',
    async run({ store, peer, announced, capabilities, loseData }) {
      const [first, second] = [await written(store, FIRST), await written(peer, SECOND)]
      await store.reannounce?.(first.revision, first.revision)
      assert.equal(await announced(), second.revision, 'somebody announced another one meanwhile')
      await store.reannounce?.(first.revision, '')
      assert.equal(await announced(), second.revision, 'there is an announcement')
      await store.reannounce?.(first.revision, second.revision)
      assert.equal(await announced(), first.revision, 'no revision is higher than another')
      await peer.reannounce?.(second.revision, first.revision)
      assert.equal(await announced(), second.revision)
      if (!capabilities.includes('loss')) return
      await loseData()
      assert.equal(await announced(), '')
      await store.reannounce?.(first.revision, second.revision)
      assert.equal(await announced(), '', 'what was seen is gone')
      await store.reannounce?.(first.revision, '')
      assert.equal(await announced(), first.revision)
    },
    async without({ store }) {
      assert.equal(store.reannounce, undefined)
    },
  },
]

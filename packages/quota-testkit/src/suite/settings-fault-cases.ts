import assert from 'node:assert/strict'
import { createQuota, type Quota } from '@scoregw/quota'
import { scoreGatewayPolicy } from '@scoregw/quota/score-gateway'
import type { SettingsChange, SettingsStore } from '@scoregw/quota/store'
import type { SettingsCase, SettingsContext } from './harness.ts'
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
import { soon } from './watch-cases.ts'

/** For stores that don't lose data: unknown revisions are rejected, and nothing is lost. */
async function keeps({ store, peer }: SettingsContext): Promise<void> {
  const first = await written(store, FIRST)
  const second = await written(peer, SECOND)
  assert.equal((await store.write(FIRST, { ifRevision: first.revision })).written, false)
  await isStored(store, SECOND, second)
}

/** An engine in each process, and a wait until mode `lenient` is in force in both, or in neither. */
async function twoEngines({ store, peer }: SettingsContext) {
  const engineOn = (settingsStore: SettingsStore): Quota => createQuota({ policy: scoreGatewayPolicy(), settingsStore })
  const [one, other] = [engineOn(store), engineOn(peer)]
  const engines = [one, other]
  await Promise.all(engines.map((quota) => quota.ready()))
  const isLenient = async (quota: Quota): Promise<boolean> =>
    (await quota.status('u')).limits['personal-read-1h']?.limit === 180
  const follow = (what: string, lenient: boolean): Promise<void> =>
    soon(what, async () => (await Promise.all(engines.map(isLenient))).every((is) => is === lenient))
  return { one, other, follow }
}

const LOSS_CASES = settingsCases(
  {
    async 'lost data counts as not stored, and every process is notified within a second'(context) {
      const { store, peer, loseData } = context
      const before = await written(store, FIRST)
      await userWritten(store, FIRST)
      const listeners = new Notifications(context)
      await listeners.both('the change is reported', isAboutSettings, () => written(peer, SECOND))
      await listeners.both('the loss is reported', isAboutSettings, loseData)
      for (const each of [store, peer]) await nothingIsStored(each)
      assert.equal((await store.write(SECOND, { ifRevision: before.revision })).written, false)
      await listeners.both('the first write after it is reported', isAboutSettings, async () => {
        const after = await written(peer, SECOND, { ifRevision: '' })
        assert.equal(after.version, 1)
        for (const each of [store, peer]) await isStored(each, SECOND, after)
      })
      listeners.stop()
    },
    async 'an old revision can’t overwrite a document written after a loss, even at an equal version'(context) {
      const { store, peer, loseData } = context
      const before = await written(store, FIRST)
      await loseData()
      const after = await written(peer, SECOND)
      assert.deepEqual([before.version, after.version], [1, 1])
      assert.notEqual(before.revision, after.revision)
      assert.deepEqual(await store.write(FIRST, { ifRevision: before.revision }), { ...after, written: false })
      await isStored(store, SECOND, after)
    },
  },
  'loss',
  keeps,
)

const BACKUP_CASES = [
  ...settingsCases(
    {
      async 'a restored older state applies, and every process is notified within a second'(context) {
        const { store, peer, backup, restore } = context
        const old = await written(store, FIRST)
        await userWritten(store, FIRST)
        await backup()
        const listeners = new Notifications(context)
        let lost = old
        await listeners.both('the change is reported', isAboutSettings, async () => {
          lost = await written(peer, SECOND)
        })
        await listeners.both('the older state is reported', isAboutSettings, restore)
        for (const each of [store, peer]) await isStored(each, FIRST, old)
        assert.equal((await store.write(SECOND, { ifRevision: lost.revision })).written, false)
        const next = await written(peer, SECOND, { ifRevision: old.revision })
        assert.equal(next.version, lost.version)
        assert.notEqual(next.revision, lost.revision)
        assert.deepEqual((await peer.readSubject(...USER))?.document, FIRST)
        listeners.stop()
      },
    },
    'backup',
    keeps,
  ),
  ...settingsCases(
    {
      async 'engines follow stored settings within a second, even lost or restored ones'(context) {
        const { capabilities, backup, restore, loseData } = context
        const { one, other, follow } = await twoEngines(context)
        await one.settings.update({ mode: 'lenient' })
        await follow('a change', true)
        await backup()
        await other.settings.update({ mode: 'normal' })
        await follow('the next change', false)
        await restore()
        await follow('an older state', true)
        if (!capabilities.includes('loss')) return
        await loseData()
        await follow('the policy alone', false)
        await one.settings.update({ mode: 'lenient' })
        await follow('the first change after it', true)
      },
    },
    'backup',
    async (context) => {
      const { one, follow } = await twoEngines(context)
      await one.settings.update({ mode: 'lenient' })
      await follow('a change', true)
    },
  ),
]

const ANNOUNCER_CASES = settingsCases(
  {
    async 'a write whose process died before its notification is reported within a second'(context) {
      const { store, peer, killAnnouncer, announced } = context
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
    async 'an announcement is repeated only over the revision that was seen'(context) {
      const { store, peer, announced, capabilities, loseData } = context
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
  },
  'announcer',
  ({ store }) => {
    assert.equal(store.reannounce, undefined, 'a store that announces nothing has nothing to announce again')
    return Promise.resolve()
  },
)

/** Cases about stores that lose data, and processes that crash halfway. */
export const SETTINGS_FAULT_CASES: readonly SettingsCase[] = [...LOSS_CASES, ...BACKUP_CASES, ...ANNOUNCER_CASES]

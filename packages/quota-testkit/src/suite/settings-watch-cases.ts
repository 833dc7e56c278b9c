import assert from 'node:assert/strict'
import type { SettingsChange, SettingsStore } from '@scoregw/quota/store'
import { plainCase, soon, watchCases } from './port-harness.ts'
import type { SettingsCase } from './settings-harness.ts'
import { FIRST, isAboutSettings, isAboutSubject, SECOND, subjectWritten, written } from './settings-probe.ts'

const KEY = 'u:"\u00e9'

/** Promises about who hears of a change, and when. */
export const SETTINGS_WATCH_CASES: readonly SettingsCase[] = [
  ...watchCases<SettingsStore>('settings', {
    watch: (store, listener) => store.watch(listener),
    write: async (store, writes) => void (await written(store, { writes })),
    version: async (store) => (await store.read())?.version,
  }),
  plainCase('settings: listeners hear what each change is about', async ({ store, peer }) => {
    const heard: SettingsChange[][] = [[], []]
    const stops = [store, peer].map((each, index) => each.watch((change) => heard[index]?.push(change)))
    for (const writer of [store, peer, peer]) {
      for (const list of heard) list.length = 0
      await written(writer, FIRST)
      await soon('a change of the settings is heard of', () => heard.every((list) => list.some(isAboutSettings)))
      for (const list of heard) list.length = 0
      await subjectWritten(writer, ['personal', KEY], SECOND)
      const isHeard = (change: SettingsChange): boolean => isAboutSubject(change, 'personal', KEY)
      await soon('a change of a subject is heard of', () => heard.every((list) => list.some(isHeard)))
      for (const list of heard) list.length = 0
      await writer.writeSubject('personal', KEY, null, {})
      await soon('a removal is heard of', () => heard.every((list) => list.some(isHeard)))
    }
    for (const stop of stops) stop()
  }),
  plainCase('settings: a write that was refused is no change', async ({ store, peer }) => {
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
    await soon('a change after it is heard of', () => notified > 0)
    stop()
  }),
]

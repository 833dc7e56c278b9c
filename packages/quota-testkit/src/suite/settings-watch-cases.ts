import assert from 'node:assert/strict'
import type { SettingsChange } from '@scoregw/quota/store'
import { hearing, plainCase, soon } from './port-harness.ts'
import type { SettingsCase } from './settings-harness.ts'
import { FIRST, isAboutSettings, isAboutSubject, SECOND, subjectWritten, written } from './settings-probe.ts'

const KEY = 'u:"\u00e9'

/** Promises about who hears of a change, and when. */
export const SETTINGS_WATCH_CASES: readonly SettingsCase[] = [
  plainCase(
    'settings: whoever watches hears of each change within a second, also of those of others',
    async ({ store, peer }) => {
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
    },
  ),
  plainCase('settings: what is read after hearing of a change is that change', async ({ store, peer }) => {
    const seen = new Set<number>()
    const told = hearing()
    const stop = peer.watch(async (change) => {
      if (!isAboutSettings(change)) return
      seen.add((await peer.read())?.version ?? 0)
      if (seen.has(1)) told.listener()
    })
    await written(store, FIRST)
    await told.heard()
    stop()
    assert.ok(seen.has(1))
  }),
  plainCase('settings: a write that was refused is no change', async ({ store, peer }) => {
    await written(store, FIRST)
    let told = 0
    const stop = store.watch((change) => {
      if (isAboutSettings(change)) told++
    })
    const before = await store.read()
    await peer.write(SECOND, { ifRevision: 'never given' })
    await store.write(SECOND, { ifRevision: 'never given' })
    assert.deepEqual(await store.read(), before)
    await written(peer, SECOND)
    await soon('a change after it is heard of', () => told > 0)
    stop()
  }),
  plainCase(
    'settings: a listener that watches twice is told twice, and each watch ends alone',
    async ({ store, peer }) => {
      let told = 0
      const listener = (): void => void told++
      const [first, second] = [store.watch(listener), store.watch(listener)]
      await written(peer, FIRST)
      await soon('both watches are told', () => told >= 2)
      first()
      first()
      const before = told
      await written(peer, SECOND)
      await soon('the other watch is told', () => told > before)
      second()
    },
  ),
  plainCase('settings: nobody is told after the end of a watch', async ({ store, peer }) => {
    let told = 0
    const stop = store.watch(() => void told++)
    await written(peer, FIRST)
    await soon('a change is heard of', () => told > 0)
    stop()
    const before = told
    const after = hearing()
    const stopAfter = store.watch(after.listener)
    await written(peer, SECOND)
    await after.heard()
    stopAfter()
    assert.equal(told, before)
  }),
]

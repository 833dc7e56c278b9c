import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { luxonCalendar } from '../src/calendar.ts'
import { createQuota, definePolicy, memorySettings, memoryStore } from '../src/index.ts'
import type { CalendarAnchor, CalendarPeriod, CalendarWindow } from '../src/internal.ts'
import { changedAnchor, fitAnchor } from '../src/policy/limits.ts'
import type { OwnAnchor } from '../src/windows/kinds/calendar.ts'
import { testClock } from './support.ts'

const DAY = 86_400_000
const calendar = luxonCalendar()
const window = (every: CalendarPeriod, timeZone = 'UTC'): CalendarWindow => ({
  label: every,
  every,
  timeZone,
  anchor: 'subject',
})
const at = (month: number, day: number): number => Date.UTC(2026, month - 1, day)

/** An anchor after some changes, as it is stored. */
function changed(windows: readonly CalendarWindow[], changes: readonly (readonly [number, CalendarAnchor | null])[]) {
  return changes.reduce<OwnAnchor | null>(
    (stored, [now, set]) => changedAnchor(stored, set, { windows, calendar, now }),
    null,
  )
}

describe('a changed anchor', () => {
  const month = [window('month')]

  /** A subject that begins at the calendar's beginning, and may change that. */
  const begun: readonly [number, CalendarAnchor | null] = [at(1, 1), { day: 1 }]

  it('a first anchor applies from the moment it is set', () => {
    const anchor = changed(month, [[at(3, 20), { day: 20 }]])
    expect(anchor).toEqual({ day: 20 })
    expect(calendar.periods(month[0]!, at(3, 20), anchor)).toEqual([at(3, 20), at(4, 20), at(5, 20)])
  })

  it('a changed anchor keeps its old value and applies from the next period', () => {
    const anchor = changed(month, [begun, [at(3, 10), { day: 15 }]])
    expect(anchor).toEqual({ day: 15, was: { day: 1 }, changedAt: at(3, 10) })
    expect(calendar.periods(month[0]!, at(3, 20), anchor)).toEqual([at(3, 1), at(4, 1), at(4, 15)])
  })

  it('a removed anchor applies until the next period, however often it is removed', () => {
    let anchor = changed(month, [
      [at(3, 10), { day: 15 }],
      [at(3, 20), null],
    ])
    expect(anchor).toEqual({ was: { day: 15 }, changedAt: at(3, 20) })
    for (const day of [2, 3, 4, 5]) {
      const now = at(6, day)
      anchor = changedAnchor(anchor, null, { windows: month, calendar, now })
      expect(Object.keys(anchor!).sort()).toEqual(['changedAt', 'was'])
      anchor = changedAnchor(anchor, { day }, { windows: month, calendar, now })
      expect(calendar.periods(month[0]!, now, anchor).slice(0, 2)).toEqual([at(6, 1), at(7, 1)])
    }
  })

  it('an anchor that changes twice before it applies replaces the pending change', () => {
    const anchor = changed(month, [begun, [at(3, 10), { day: 15 }], [at(3, 20), { day: 20 }]])
    expect(anchor).toEqual({ day: 20, was: { day: 1 }, changedAt: at(3, 20) })
    expect(calendar.periods(month[0]!, at(3, 20), anchor)).toEqual([at(3, 1), at(4, 1), at(4, 20)])
  })

  it('an anchor that changes after the last change applied drops what was before that', () => {
    const anchor = changed(month, [
      [at(3, 10), { day: 15 }],
      [at(4, 20), { day: 20 }],
    ])
    expect(anchor).toEqual({ day: 20, was: { day: 15 }, changedAt: at(4, 20) })
  })

  it('an anchor that changes in the short period after a change keeps when that period began', () => {
    const anchor = changed(month, [begun, [at(3, 10), { day: 15 }], [at(4, 5), { day: 20 }]])
    expect(anchor).toEqual({ day: 20, was: { day: 15, was: { day: 1 }, changedAt: at(3, 10) }, changedAt: at(4, 5) })
    expect(calendar.periods(month[0]!, at(4, 5), anchor)).toEqual([at(4, 1), at(4, 15), at(4, 20)])
  })

  it('an anchor that is set back before it applies is unchanged', () => {
    const anchor = changed(month, [begun, [at(3, 10), { day: 15 }], [at(3, 20), { day: 1 }]])
    expect(anchor).toEqual({ day: 1 })
  })

  it('an anchor that is removed gives way to the calendar after the current period', () => {
    const anchor = changed(month, [
      [at(3, 10), { day: 15 }],
      [at(6, 20), null],
    ])
    expect(anchor).toEqual({ was: { day: 15 }, changedAt: at(6, 20) })
    expect(calendar.periods(month[0]!, at(6, 20), anchor)).toEqual([at(6, 15), at(7, 15), at(8, 1)])
    expect(changedAnchor(anchor, null, { windows: month, calendar, now: at(8, 2) })).toEqual({
      was: null,
      changedAt: at(6, 20),
    })
  })

  it('an anchor that is written in another form is unchanged', () => {
    const anchor = changed(month, [
      [at(3, 10), { day: 15 }],
      [at(3, 20), { day: 15, time: '00:00' }],
    ])
    expect(anchor).toEqual({ day: 15, time: '00:00' })
    const later = changed(month, [begun, [at(3, 10), { day: 15 }], [at(3, 20), { day: 15, time: '00:00' }]])
    expect(later).toEqual({ day: 15, time: '00:00', was: { day: 1 }, changedAt: at(3, 10) })
  })

  it('an anchor that no window uses keeps only its last change', () => {
    const terms = { windows: [], calendar: undefined }
    let anchor: OwnAnchor | null = null
    for (let day = 1; day <= 28; day++) anchor = changedAnchor(anchor, { day }, { ...terms, now: at(3, day) })
    expect(anchor).toEqual({ day: 28, was: { day: 27 }, changedAt: at(3, 28) })
  })

  it('an anchor that changes any number of times has the periods of all changes and stores few of them', () => {
    const anchors = fc.record(
      {
        month: fc.integer({ min: 1, max: 12 }),
        day: fc.integer({ min: 1, max: 31 }),
        time: fc.constantFrom('00:00', '06:30', '23:59'),
      },
      { requiredKeys: [] },
    )
    const changes = fc.array(fc.tuple(fc.integer({ min: 0, max: 60 * DAY }), fc.option(anchors)), {
      minLength: 1,
      maxLength: 12,
    })
    const everies = fc.subarray<CalendarPeriod>(['day', 'week', 'month', 'year'], { minLength: 1 })
    const property = fc.property(everies, changes, (chosen, steps) => {
      const windows = chosen.map((every) => window(every, 'Europe/Berlin'))
      let now = at(1, 1)
      let stored: OwnAnchor | null = null
      // The whole story: every change on top of all before.
      let whole: OwnAnchor | null = null
      for (const [ms, set] of steps) {
        now += ms
        stored = changedAnchor(stored, set, { windows, calendar, now })
        whole = whole === null ? set : { ...set, was: whole, changedAt: now }
        expect(fitAnchor(stored ?? {})).toEqual(stored ?? {})
        expect(JSON.stringify(stored).split('changedAt').length - 1).toBeLessThanOrEqual(3 * windows.length)
        for (const later of [0, 1, 31 * DAY, 400 * DAY]) {
          for (const each of windows) {
            expect(calendar.periods(each, now + later, stored)).toEqual(calendar.periods(each, now + later, whole))
          }
        }
      }
    })
    fc.assert(property, { numRuns: 30 })
  }, 60_000)
})

describe('the anchor of a subject', () => {
  const policy = definePolicy({
    limits: {
      perMonth: { by: 'user', limit: 5, every: 'month', timeZone: 'UTC', anchor: 'subject' },
      ofAll: { shared: 'all', limit: 100, every: 'month', timeZone: 'UTC', anchor: 'subject' },
    },
    operations: { ask: {} },
  })

  function made() {
    const clock = testClock(at(3, 10))
    const settingsStore = memorySettings()
    const store = memoryStore({ clock })
    return { clock, settingsStore, quota: createQuota({ policy, clock, calendar, store, settingsStore }) }
  }

  it('an anchor moves only its subject’s periods, and a changed one from the next period on', async () => {
    const { quota, clock } = made()
    await quota.subjects.set('u', { anchor: { day: 1 } })
    await quota.subjects.update('u', { anchor: { day: 15 } })
    const resets = async (subject: string) =>
      Object.values((await quota.status(subject)).limits).map((limit) =>
        new Date(limit.resetAt ?? 0).toISOString().slice(5, 10),
      )
    expect(await resets('u')).toEqual(['04-01', '04-01'])
    for (let i = 0; i < 5; i++) quota.consumeSync({ subject: 'u', operation: 'ask' })
    expect(quota.consumeSync({ subject: 'u', operation: 'ask' }).allowed).toBe(false)
    clock.at = at(4, 1)
    expect(await resets('u')).toEqual(['04-15', '05-01'])
    expect(quota.consumeSync({ subject: 'u', operation: 'ask', cost: 5 }).allowed).toBe(true)
    clock.at = at(4, 15)
    expect(await resets('u')).toEqual(['05-15', '05-01'])
    expect(await resets('v')).toEqual(['05-01', '05-01'])
    expect(quota.consumeSync({ subject: 'u', operation: 'ask', cost: 5 }).allowed).toBe(true)
    await quota.close()
  })

  it('a customer who started on the 20th has one limit until the next 20th', async () => {
    const { quota, clock } = made()
    clock.at = at(3, 20)
    await quota.subjects.set('u', { anchor: { day: 20 } })
    let admitted = 0
    for (; clock.at < at(4, 20); clock.at += DAY / 2) {
      if (quota.consumeSync({ subject: 'u', operation: 'ask' }).allowed) admitted++
    }
    expect(admitted).toBe(5)
    await quota.close()
  })

  it('a subject gets at most one period for each change of its anchor, however often it is set and removed', async () => {
    const { quota, clock } = made()
    await quota.subjects.set('u', { anchor: { day: 10 } })
    let admitted = 0
    for (let i = 0; i < 40; i++, clock.at += DAY / 4) {
      if (quota.consumeSync({ subject: 'u', operation: 'ask' }).allowed) admitted++
      await quota.subjects.remove('u')
      if (quota.consumeSync({ subject: 'u', operation: 'ask' }).allowed) admitted++
      await quota.subjects.set('u', { anchor: { day: 10 + (i % 10) } })
    }
    expect(admitted).toBe(5)
    await quota.close()
  })

  it('an anchor can be written back as it was read, and the engine keeps its history', async () => {
    const { quota, clock, settingsStore } = made()
    await quota.subjects.set('u', { anchor: { day: 1 } })
    await quota.subjects.set('u', { anchor: { day: 15 } })
    const read = await quota.subjects.get('u')
    expect(read.anchor).toEqual({ day: 15, was: { day: 1 }, changedAt: at(3, 10) })
    clock.at = at(3, 12)
    const forged = { ...read, anchor: { day: 15, was: { day: 3 }, changedAt: 7 }, bypass: { all: true } } as const
    const { version: _, revision, ...plain } = read
    const written = await quota.subjects.set('u', forged)
    expect(written).toMatchObject({ ...plain, bypass: { all: true }, version: 3 })
    expect(written.revision).not.toBe(revision)
    expect(settingsStore.readSubject('user', 'u')!.document).toEqual({ ...plain, bypass: { all: true } })
    clock.at = at(5, 20)
    await quota.subjects.set('u', {})
    expect((await quota.subjects.get('u')).anchor).toEqual({ was: { day: 15 }, changedAt: at(5, 20) })
    await quota.subjects.remove('u')
    expect((await quota.subjects.get('u')).anchor).toEqual({ was: { day: 15 }, changedAt: at(5, 20) })
    clock.at = at(8, 1)
    await quota.subjects.remove('u')
    expect(settingsStore.readSubject('user', 'u')!.document).toEqual({ anchor: { was: null, changedAt: at(5, 20) } })
    await quota.subjects.set('never', { bypass: { all: true } })
    await quota.subjects.remove('never')
    expect(settingsStore.readSubject('user', 'never')).toBeUndefined()
    await quota.close()
  })

  it('an update of other members keeps the history of an anchor that no limit of its process uses', async () => {
    const { quota, clock, settingsStore } = made()
    for (const day of [1, 15]) await quota.subjects.set('u', { anchor: { day } })
    clock.at = at(4, 2)
    const { anchor } = await quota.subjects.set('u', { anchor: { day: 20 } })
    expect(anchor).toMatchObject({ day: 20, was: { day: 15, was: { day: 1 } } })
    const other = createQuota({ limits: { reads: { by: 'user', limit: 5, per: '1h' } }, clock, settingsStore })
    await other.subjects.update('u', { limits: { reads: 3 } })
    expect(settingsStore.readSubject('user', 'u')!.document).toMatchObject({ limits: { reads: 3 }, anchor })
    await Promise.all([quota.close(), other.close()])
  })

  it('an anchor is computed from the stored document, also when another writer changes it meanwhile', async () => {
    const { quota, clock, settingsStore } = made()
    const write = settingsStore.writeSubject.bind(settingsStore)
    let others = 0
    const racing = {
      ...settingsStore,
      sync: true as const,
      isMarked: false,
      read: () => settingsStore.read(),
      write: settingsStore.write.bind(settingsStore),
      readSubject: settingsStore.readSubject.bind(settingsStore),
      watch: settingsStore.watch.bind(settingsStore),
      writeSubject: (layer: string, key: string, document: unknown, options: object) => {
        if (others++ === 0) write(layer, key, { anchor: { day: 7 } }, {})
        return write(layer, key, document, options)
      },
    }
    await quota.close()
    const other = createQuota({ policy, clock, calendar, store: memoryStore({ clock }), settingsStore: racing })
    expect((await other.subjects.set('u', { anchor: { day: 20 } })).anchor).toEqual({
      day: 20,
      was: { day: 7 },
      changedAt: at(3, 10),
    })
    await other.close()
  })
})

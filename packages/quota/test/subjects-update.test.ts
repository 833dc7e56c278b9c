import { describe, expect, it } from 'vitest'
import { luxonCalendar } from '../src/calendar.ts'
import { createQuota } from '../src/index.ts'

function made() {
  return createQuota({
    limits: {
      reads: { by: 'user', limit: 5, per: '1h', for: 'get' },
      readsAMonth: { by: 'user', limit: 50, every: 'month', timeZone: 'UTC', anchor: 'subject', for: 'get' },
      writes: { by: 'user', limit: 3, per: '1h', for: 'put' },
      all: { shared: 'all', limit: 100, per: '1h' },
    },
    operations: { get: {}, put: {} },
    plans: { pro: { reads: 50 }, team: {} },
    calendar: luxonCalendar(),
  })
}

describe('subjects.update', () => {
  it('subjects.update() changes what the patch names and keeps the rest', async () => {
    const quota = made()
    await quota.subjects.set('u', {
      limits: { reads: 7, writes: 9 },
      bypass: { all: true },
      anchor: { day: 20, time: '06:00' },
    })
    const updated = await quota.subjects.update('u', { plan: 'pro', limits: { readsAMonth: 70 } })
    expect(updated).toEqual({
      version: 2,
      revision: updated.revision,
      limits: { reads: 7, readsAMonth: 70, writes: 9 },
      bypass: { all: true },
      plan: 'pro',
      blocked: false,
      until: { limits: null, plan: null, blocked: null },
      anchor: { day: 20, time: '06:00' },
    })
    expect(await quota.subjects.get('u')).toEqual(updated)
  })

  it('subjects.update() resets a value to its default with null at every depth', async () => {
    const quota = made()
    const whole = { limits: { reads: 7, writes: 9 }, bypass: { all: true }, plan: 'pro' } as const
    await quota.subjects.set('u', { ...whole, until: { plan: 99 } })
    expect(await quota.subjects.update('u', { limits: { reads: null } })).toMatchObject({
      limits: { reads: null, writes: 9 },
      until: { plan: 99 },
    })
    expect(await quota.subjects.update('u', { limits: null, until: null })).toMatchObject({
      limits: { writes: null },
      until: { plan: null, limits: null },
      bypass: { all: true },
    })
    const empty = { limits: { reads: null }, bypass: {}, plan: null }
    expect(await quota.subjects.update('u', { limits: null, bypass: null, plan: null })).toMatchObject(empty)
    expect(await quota.subjects.set('v', { limits: null, bypass: null })).toMatchObject(empty)
  })

  it('subjects.update() replaces a whole anchor and keeps an anchor that it doesn’t name', async () => {
    const quota = made()
    await quota.subjects.set('u', { anchor: { day: 20, time: '06:00' } })
    const { anchor } = await quota.subjects.update('u', { plan: 'pro' })
    expect(anchor).toEqual({ day: 20, time: '06:00' })
    expect((await quota.subjects.update('u', { anchor: { day: 5 } })).anchor).toMatchObject({ day: 5, was: anchor })
    expect((await quota.subjects.update('u', { anchor: { day: 5 } })).anchor).not.toHaveProperty('time')
    expect((await quota.subjects.update('u', { anchor: null })).anchor).not.toHaveProperty('day')
  })

  it('subjects.update() and set() ignore the version and revision of a document that was read', async () => {
    const quota = made()
    const read = await quota.subjects.get('u')
    expect((await quota.subjects.set('u', { ...read, plan: 'pro' })).plan).toBe('pro')
    expect((await quota.subjects.update('u', { ...read, bypass: { all: true } })).version).toBe(2)
  })

  it('subjects.update() rejects when another version or revision is stored', async () => {
    const quota = made()
    const { version, revision } = await quota.subjects.set('u', { plan: 'pro' })
    const conflict = expect.objectContaining({ code: 'settings_conflict' })
    await expect(quota.subjects.update('u', { plan: 'team' }, { ifVersion: 0 })).rejects.toEqual(conflict)
    await expect(quota.subjects.update('u', { plan: 'team' }, { ifRevision: 'other' })).rejects.toEqual(conflict)
    expect(
      (await quota.subjects.update('u', { plan: 'team' }, { ifVersion: version, ifRevision: revision })).plan,
    ).toBe('team')
  })

  it('subjects.update() with faults lists all of them and stores nothing', async () => {
    const quota = made()
    const faulty = { limits: { reads: -1, posts: 3 }, plan: 'gold', anchor: { day: 40 }, colour: 'red' }
    await expect(quota.subjects.update('u', faulty as never)).rejects.toMatchObject({
      code: 'invalid_settings',
      faults: ['limits.reads', 'limits.posts', 'plan', 'anchor.day', 'colour'].map((path) => ({ path })),
    })
    await expect(quota.subjects.update('u', 5 as never)).rejects.toMatchObject({ code: 'invalid_settings' })
    expect((await quota.subjects.get('u')).version).toBe(0)
  })

  it('subjects.update() keeps a removed plan unless the patch names a plan', async () => {
    const quota = made()
    await quota.settings.update({ plans: { gold: {} } })
    await quota.subjects.set('u', { plan: 'gold' as never })
    await quota.settings.update({ plans: { gold: null } })
    expect((await quota.subjects.update('u', { bypass: { all: true } })).plan).toBe('gold')
    const { plan: _, ...others } = await quota.subjects.get('u')
    expect((await quota.subjects.set('u', others)).plan).toBeNull()
  })

  it('subjects.update() applies to the next request', async () => {
    const quota = made()
    quota.consumeSync({ subject: 'u', operation: 'get', cost: 5 })
    expect(quota.peekSync({ subject: 'u', operation: 'get' }).allowed).toBe(false)
    await quota.subjects.update('u', { plan: 'pro' })
    expect(quota.consumeSync({ subject: 'u', operation: 'get', cost: 45 }).allowed).toBe(true)
  })
})
